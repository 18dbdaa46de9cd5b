// Tables: filtered, sorted, saved as CSV; of a long one only the rows that are seen are in the
// document.
import { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count, csv, download, stamp } from '../data';
import { route, setQuery } from '../route';
import { natural, printable } from '../text';
import { Search } from './fields';
import { lineLength, Words } from './mark';

export interface Column<T> {
  name: string;
  /** What is searched, sorted and saved; nothing where it is not known. */
  text: (row: T) => string | number | undefined;
  cell?: (row: T) => ComponentChildren;
  right?: boolean;
}

/** textOf is the text of a cell, empty where it is not known. */
const textOf = <T,>(c: Column<T>, row: T): string | number => c.text(row) ?? '';

/** Tables of more rows have those in the document that are seen, each one line. */
const windowedFrom = 500,
  rowHeight = 33,
  windowRows = 60;

/** So many rows are seen without a filter. */
const fewRows = 5;

/** sought is what a filter searches: a time as it is sent and as it is shown. */
const sought = (v: string | number): string =>
  (/^\d{4}-\d\d-\d\dT/.test(String(v)) ? `${v} ${stamp(String(v))}` : String(v)).toLowerCase();

/** edge lets the style mark that columns are cut off at the right. */
const edge = (e: HTMLElement) =>
  e.toggleAttribute('data-cut', e.scrollLeft + e.clientWidth + 1 < e.scrollWidth);

interface TableProps<T> {
  name: string;
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string;
  empty?: ComponentChildren;
  /** The newest is first. */
  newest?: boolean;
  /** What is done with the list as a whole, beside its filter. */
  tools?: ComponentChildren;
  selected?: Set<string>;
  onSelect?: (s: Set<string>) => void;
  selectable?: (row: T) => boolean;
}

/** Table is a list that one filters, sorts by a press on a title, and saves as CSV. */
export function Table<T>({
  name,
  rows,
  columns,
  id,
  empty,
  newest,
  tools,
  selected,
  onSelect,
  selectable = () => true,
}: TableProps<T>) {
  const want = route.value.query.get('q') ?? '',
    [sort, setSort] = useState<[number, boolean]>([0, !newest]),
    [top, setTop] = useState(0),
    box = useRef<HTMLDivElement>(null);
  const place = () => {
    // the lower edge is on the screen, except of a table that begins far down
    const e = box.current,
      above = e ? e.getBoundingClientRect().top + (e.closest('main')?.scrollTop ?? 0) : 0;
    if (!e) return;
    e.style.setProperty('--above', above < innerHeight / 2 ? above + 'px' : '');
    edge(e);
  };
  useLayoutEffect(place);
  useEffect(() => {
    addEventListener('resize', place);
    return () => removeEventListener('resize', place);
  }, []);
  const shown = useMemo(() => {
    const w = want.toLowerCase(),
      [at, up] = sort,
      c = columns[at] ?? columns[0]!;
    const list = w
      ? rows.filter(r => columns.some(x => sought(textOf(x, r)).includes(w)))
      : [...rows];
    return list.sort((a, b) => (up ? 1 : -1) * natural(String(textOf(c, a)), String(textOf(c, b))));
  }, [rows, want, sort]);
  const few = shown.length <= windowedFrom,
    first = few
      ? 0
      : Math.max(0, Math.min(shown.length - windowRows, Math.floor(top / rowHeight) - 15));
  const visible = few ? shown : shown.slice(first, first + windowRows),
    span = columns.length + (onSelect ? 1 : 0);
  const toggle = (key: string) => {
    const s = new Set(selected);
    if (!s.delete(key)) s.add(key);
    onSelect?.(s);
  };
  const low = /^[A-Z][a-z]/.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name;
  const may = shown.filter(selectable),
    whole = may.length > 0 && may.every(r => selected?.has(id(r)));
  if (!rows.length && empty)
    return (
      <>
        {tools && <div class="bar">{tools}</div>}
        {empty}
      </>
    );
  return (
    <section class="tablebox" aria-label={name}>
      <div class="bar">
        {tools}
        {(rows.length > fewRows || want) && (
          <Search label={`Filter ${low}`} value={want} onInput={q => setQuery({ q })} />
        )}
        <span class="soft" role="status">
          {shown.length === rows.length
            ? count(rows.length, 'row')
            : `${shown.length} of ${count(rows.length, 'row')}`}
        </span>
        <button
          class="plain"
          onClick={() =>
            download(
              name.toLowerCase().replace(/\W+/g, '-') + '.csv',
              'text/csv',
              csv([columns.map(c => c.name), ...shown.map(r => columns.map(c => textOf(c, r)))]),
            )
          }
        >
          CSV
        </button>
      </div>
      <div
        ref={box}
        class="scroll"
        tabIndex={0}
        role="group"
        aria-label={`Rows of ${low}`}
        onScroll={e => {
          edge(e.currentTarget);
          if (!few) setTop(e.currentTarget.scrollTop);
        }}
      >
        <table aria-rowcount={shown.length} class={few ? undefined : 'windowed'}>
          <thead>
            <tr>
              {onSelect && (
                <th scope="col" class="pick">
                  <input
                    type="checkbox"
                    aria-label="Select all"
                    disabled={!may.length}
                    checked={whole}
                    onChange={() => onSelect(new Set(whole ? [] : may.map(id)))}
                  />
                </th>
              )}
              {columns.map((c, i) => (
                <th
                  key={c.name}
                  scope="col"
                  class={c.right ? 'right' : ''}
                  aria-sort={sort[0] === i ? (sort[1] ? 'ascending' : 'descending') : undefined}
                >
                  <button
                    class="head"
                    onClick={() => setSort([i, sort[0] === i ? !sort[1] : true])}
                  >
                    {c.name}
                    <span aria-hidden="true">{sort[0] === i ? (sort[1] ? ' ▲' : ' ▼') : ''}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && (
              <tr aria-hidden="true">
                <td
                  colSpan={span}
                  ref={e => {
                    if (e) e.style.height = first * rowHeight + 'px';
                  }}
                />
              </tr>
            )}
            {visible.map(r => (
              <tr key={id(r)}>
                {onSelect && (
                  <td class="pick">
                    {selectable(r) && (
                      <input
                        type="checkbox"
                        aria-label={'Select ' + textOf(columns[0]!, r)}
                        checked={selected?.has(id(r))}
                        onChange={() => toggle(id(r))}
                      />
                    )}
                  </td>
                )}
                {columns.map(c => (
                  <td
                    key={c.name}
                    title={few ? undefined : String(textOf(c, r))}
                    class={
                      c.right ? 'right' : String(textOf(c, r)).length > lineLength ? 'long' : ''
                    }
                  >
                    {c.cell ? (
                      c.cell(r)
                    ) : String(textOf(c, r)).length > lineLength ? (
                      <Words>{printable(String(textOf(c, r)))}</Words>
                    ) : (
                      printable(String(textOf(c, r)))
                    )}
                  </td>
                ))}
              </tr>
            ))}
            {!few && (
              <tr aria-hidden="true">
                <td
                  colSpan={span}
                  ref={e => {
                    if (e)
                      e.style.height = (shown.length - first - visible.length) * rowHeight + 'px';
                  }}
                />
              </tr>
            )}
            {!shown.length && (
              <tr>
                <td colSpan={span} class="soft">
                  Nothing here matches “{want}”.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
