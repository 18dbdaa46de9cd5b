// How many nodes are in which state.
import { Graph } from '../../map/graph';
import { nodeTones } from '../../map/state';
import { stamp } from '../../core/data';
import { to } from '../../core/route';
import { Mark } from '../../core/ui';

interface Props {
  g: Graph;
  /** How many links a fabric lacks. */
  missing: number;
  folded: number;
  /** What the layer shows, in words. */
  title: string | undefined;
  onUnfold: () => void;
}

const states = ['answering', 'silent', 'gone', 'outside', 'unknown'] as const;

/** Counts counts the nodes and links, by their state; one unfolds all nodes here. */
export function Counts({ g, missing, folded, title, onUnfold }: Props) {
  const count = (s: string) => [...g.nodes.values()].filter(n => n.state === s).length,
    lost = [...g.links.values()].flatMap(l => (l.lost ? [l.lost] : [])).sort();
  return (
    <div class="bar counts">
      <span data-testid="counts">
        {g.nodes.size} nodes, {g.links.size} links
      </span>
      {states.map(
        s =>
          count(s) > 0 && (
            <Mark key={s} tone={nodeTones[s]}>
              {count(s)} {s}
            </Mark>
          ),
      )}
      {lost.length > 0 && (
        <a href={to(['now'])}>
          <Mark tone="bad">
            {lost.length} lost {lost.length > 1 ? 'links' : 'link'}, the newest at{' '}
            {stamp(lost.at(-1)).slice(11, 16)}
          </Mark>
        </a>
      )}
      {missing > 0 && (
        <Mark tone="bad">{missing} missing: not every leaf is linked to every spine</Mark>
      )}
      {folded > 0 && (
        <span>
          {folded} folded into their neighbours{' '}
          <button class="link" onClick={onUnfold}>
            Unfold all
          </button>
        </span>
      )}
      {title && <span class="tag">{title}</span>}
    </div>
  );
}
