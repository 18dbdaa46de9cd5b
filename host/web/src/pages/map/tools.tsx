// The buttons above the map.

interface Props {
  hops: number;
  fold: boolean;
  /** Whether there is a layout to go back to. */
  undo: boolean;
  /** What a key of the map does. */
  onKey: (key: string) => void;
  onFullScreen: () => void;
  onExport: (kind: 'svg' | 'png') => void;
}

/** Tools fits, lays out, folds and saves the map. */
export function Tools({ hops, fold, undo, onKey, onFullScreen, onExport }: Props) {
  return (
    <>
      <button class="plain" title="Show all (f)" onClick={() => onKey('f')}>
        Fit
      </button>
      <button class="plain" title="Lay out again (l)" onClick={() => onKey('l')}>
        Arrange
      </button>
      {undo && (
        <button class="plain" onClick={() => onKey('u')}>
          Undo
        </button>
      )}
      <button
        class="plain"
        title="Only what is near the selected (h)"
        aria-pressed={hops > 0}
        onClick={() => onKey('h')}
      >
        {hops ? `${hops} hop${hops > 1 ? 's' : ''}` : 'All hops'}
      </button>
      <button
        class="plain"
        title="Show the leaves of a node as a number (c)"
        aria-pressed={fold}
        onClick={() => onKey('c')}
      >
        Fold leaves
      </button>
      {document.fullscreenEnabled && (
        <button class="plain" onClick={onFullScreen}>
          Full screen
        </button>
      )}
      <button class="plain" onClick={() => onExport('svg')}>
        SVG
      </button>
      <button class="plain" onClick={() => onExport('png')}>
        PNG
      </button>
    </>
  );
}
