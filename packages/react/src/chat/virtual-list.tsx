import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { changeOf, type ListChange, movedBy } from './list-change.ts';
import type { Offsets } from './offsets.ts';
import { createScroller, type Scroller, type Seen } from './scroller.ts';
import { type Align, endOf, type Range, type View } from './window.ts';

export interface VirtualListHandle {
  show(index: number, align: Align): void;
  showEnd(): void;
}

interface VirtualListProps {
  /** One for each row; a row keeps its height and its place under the same key. */
  keys: readonly string[];
  label: string;
  /** Of a row that was not drawn yet, in pixels. */
  estimate: number;
  onSeen: (seen: Seen) => void;
  handle: RefObject<VirtualListHandle | null>;
  /** What is inside a row. */
  children: (index: number, isFocused: boolean) => ReactNode;
}

/**
 * A list that draws only the rows in view, of any height, and keeps what is seen in its place while rows come, go or
 * grow. Arrow keys walk over the rows. It starts at its end and stays there until it is scrolled away.
 */
export function VirtualList({ keys, label, estimate, onSeen, handle, children }: VirtualListProps) {
  const [scroller] = useState(createScroller);
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const [, redraw] = useState<View>();
  const view = useSyncExternalStore(scroller.subscribe, scroller.view, scroller.view);
  const [focusedKey, setFocusedKey] = useState<string | null>(null);
  const [hasFocus, setHasFocus] = useState(false);

  const { change, offsets } = useChangedOffsets(scroller, keys, estimate);
  const top = scroller.isAtEnd ? endOf(offsets, view.height) : carried(scroller, offsets, change, view.top);
  const range = scroller.rangeOf(offsets, { ...view, top });
  const focused = focusedKey === null ? -1 : movedBy(change, scroller.focused);
  const kept = hasFocus ? focused : -1;
  const tabStop = kept >= 0 || (focused >= range.first && focused <= range.last) ? focused : range.last;

  useLayoutEffect(() => scroller.mount(frame.current, list.current, redraw), [scroller]);
  useLayoutEffect(() => {
    handle.current = scroller;
    scroller.onSeen = onSeen;
    scroller.commit(keys, offsets, change, range);
  });

  const onFocus = ({ target }: FocusEvent): void => {
    const index = rowOf(target);
    scroller.focused = index;
    setFocusedKey(keys[index] ?? null);
    setHasFocus(true);
  };
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent): void =>
    setHasFocus(relatedTarget instanceof Node && currentTarget.contains(relatedTarget));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const next = nextRow(event, keys.length, range);
    if (next === null) return;
    event.preventDefault();
    setFocusedKey(keys[next] ?? null);
    scroller.focus(next);
  };
  return (
    <div className="parley-scroll" ref={frame} role="log" aria-live="off" aria-label={label}>
      <ol
        className="parley-rows"
        ref={list}
        style={{ height: offsets.total() }}
        onFocus={onFocus}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      >
        {drawn(range, kept, keys.length).map((index) => (
          <li
            key={keys[index]}
            className="parley-row"
            data-index={index}
            style={{ top: offsets.offsetOf(index) }}
            tabIndex={index === tabStop ? 0 : -1}
            aria-posinset={index + 1}
            aria-setsize={keys.length}
          >
            {children(index, index === kept)}
          </li>
        ))}
      </ol>
    </div>
  );
}

const NO_CHANGE: ListChange = { start: 0, removed: 0, added: 0 };

/** What became of the rows since the last commit, and where they are now. */
function useChangedOffsets(
  scroller: Scroller,
  keys: readonly string[],
  estimate: number,
): { change: ListChange; offsets: Offsets } {
  const next = useMemo(() => {
    const change = changeOf(scroller.keys, keys);
    const isSame = change.added === 0 && change.removed === 0;
    return { keys, change, offsets: isSame ? scroller.offsets : scroller.offsets.changed(change, estimate) };
  }, [scroller, keys, estimate]);
  return scroller.keys === keys ? { change: NO_CHANGE, offsets: scroller.offsets } : next;
}

/** A scroll position of before, so that the same row is there. */
function carried(scroller: Scroller, offsets: Offsets, change: ListChange, top: number): number {
  const { index, into } = scroller.offsets.anchorAt(top);
  return offsets.offsetOf(movedBy(change, index)) + into;
}

/** The row with the focus stays, or the focus would be lost with it. */
function drawn({ first, last }: Range, focused: number, count: number): number[] {
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  if (focused < 0 || focused >= count) return indexes;
  if (focused < first) return [focused, ...indexes];
  return focused > last ? [...indexes, focused] : indexes;
}

const rowOf = (target: Element): number =>
  Number(target.closest<HTMLElement>('.parley-row')?.dataset['index'] ?? Number.NaN);

function nextRow({ key, target }: KeyboardEvent, count: number, { first, last }: Range): number | null {
  if (!(target instanceof Element) || target.closest('input, textarea')) return null;
  const index = rowOf(target);
  const page = Math.max(1, Math.floor((last - first) / 2));
  const steps: Readonly<Record<string, number>> = {
    ArrowUp: index - 1,
    ArrowDown: index + 1,
    PageUp: Math.max(0, index - page),
    PageDown: Math.min(count - 1, index + page),
    Home: 0,
    End: count - 1,
  };
  const next = steps[key];
  return next !== undefined && next >= 0 && next < count && next !== index ? next : null;
}
