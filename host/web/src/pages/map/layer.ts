// The layer over the map, read again when what it shows changes.
import { useEffect, useState } from 'preact/hooks';
import { channelsOf } from '../../bier/channel';
import { useData } from '../../core/data';
import { onEvents } from '../../core/events';
import { route, setQuery } from '../../core/route';
import { Layer } from '../../map/draw';
import { Graph } from '../../map/graph';
import { loadLayer } from '../../map/layers';
import { useAct } from '../../core/ui';

/** useLayer reads a layer of a topology, and the channels that it can show. */
export function useLayer(g: Graph | null | undefined, id: string) {
  const [layer, setLayer] = useState<Layer | null>(null),
    [turn, again] = useState(0),
    act = useAct(),
    ofBier = id.startsWith('bier:');
  const channels = useData(
    () => (g && ofBier ? channelsOf(g.id) : Promise.resolve([] as string[])),
    [g?.id ?? '', ofBier],
  );
  useEffect(() => {
    if (id === 'bier:' && channels.value?.[0]) setQuery({ layer: 'bier:' + channels.value[0] });
  }, [id, channels.value]);
  useEffect(
    () =>
      onEvents(e => {
        if (e.some(x => /bier|report|alarm/.test(x.stream + x.name))) again(t => t + 1);
      }),
    [],
  );
  useEffect(() => {
    setLayer(null);
  }, [id, g?.id]);
  useEffect(() => {
    if (!g || !id) return;
    act.run(async () => {
      const l = await loadLayer(g, id);
      if ((route.peek().query.get('layer') ?? '') === id) setLayer(l);
    });
  }, [id, g?.id, turn]);
  return { layer, channels: channels.value, act };
}
