// What the map shows: the topology, and a layer over it.
import { go, setQuery, to } from '../../core/route';
import { Graph } from '../../map/graph';
import { layersOf } from '../../map/layers';
import { graphs, titleOf } from '../../map/store';
import { Choice, Field, Title } from '../../core/ui';

interface Props {
  g: Graph;
  layer: string;
  channels: string[] | undefined;
}

/** ChannelChoice chooses the channel of the layer, or leads to where one is made. */
function ChannelChoice({ g, layer, channels }: Props) {
  if (!channels) return null;
  if (!channels.length)
    return (
      <span class="soft">
        This topology has no BIER channel. <a href={to(['bier', g.id])}>Make one</a>
      </span>
    );
  return (
    <Choice
      label="Channel"
      value={layer.slice('bier:'.length)}
      options={channels.map(c => [c, c])}
      onChange={c => setQuery({ layer: 'bier:' + c })}
    />
  );
}

/** kindOf is the entry of the list of layers that a layer belongs to. */
function kindOf(layer: string): string {
  if (layer.startsWith('vlan:')) return 'vlan:1';
  return layer.startsWith('bier:') ? 'bier:' : layer;
}

/** Choices chooses the topology and the layer. */
export function Choices(p: Props) {
  const all = [...(graphs.value?.keys() ?? [])];
  const side = (
    <>
      {all.length > 1 && (
        <Choice
          label="Topology"
          value={p.g.id}
          options={all.map(k => [k, titleOf(k)])}
          onChange={k => go(['map', k])}
        />
      )}
      <Choice
        label="Layer"
        value={kindOf(p.layer)}
        options={[['', 'State'], ...layersOf(p.g)]}
        onChange={l => setQuery({ layer: l })}
      />
      {p.layer.startsWith('vlan:') && (
        <Field
          label="VLAN"
          type="number"
          min={1}
          max={4094}
          value={p.layer.slice('vlan:'.length)}
          onChange={e => setQuery({ layer: 'vlan:' + (e.currentTarget.value || '1') })}
        />
      )}
      {p.layer.startsWith('bier:') && <ChannelChoice {...p} />}
    </>
  );
  return <Title side={side}>Map</Title>;
}
