// The legend of the map, and its keys.
import { foldsAbove } from '../../map/graph';

/** Legend explains the signs of the map; it is closed until one asks for it. */
export function Legend() {
  return (
    <details class="legend">
      <summary>Legend and keys</summary>
      <p>
        A square is an OpenFlow switch, a hexagon a BIER router. Links: grey and dashed gone for
        less than five minutes; red and dashed missing, where nearly every leaf is linked to every
        spine. A grey area is a fabric with more than a thousand links: those of a selected node are
        drawn. Thicker is faster. A number in a node is how many leaves are folded into it; a press
        on it unfolds them; with an ! some of them do not answer. Of leaves with the same neighbours
        one stands for all. Maps of more than {foldsAbove} nodes are folded by themselves until one
        zooms in; what is found or selected is always shown.
      </p>
      <p class="keys">
        <kbd>/</kbd> find <kbd>f</kbd> fit <kbd>l</kbd> arrange <kbd>u</kbd> undo <kbd>h</kbd> hops{' '}
        <kbd>c</kbd> fold leaves <kbd>e</kbd> unfold those of the selected node <kbd>+</kbd>{' '}
        <kbd>-</kbd> zoom <kbd>←↑→↓</kbd> neighbour <kbd>Enter</kbd> open <kbd>Esc</kbd> nothing
        selected
      </p>
    </details>
  );
}
