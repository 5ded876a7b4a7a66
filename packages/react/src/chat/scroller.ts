import { type ListChange, movedBy } from './list-change.ts';
import { type Anchor, createOffsets, type Offsets } from './offsets.ts';
import { type Align, endOf, type Range, rangeOf, topFor, type View } from './window.ts';

/** Nearer than this to the end is at the end. */
const END_PX = 8;
/** Drawn beyond the view, so that a quick wheel does not outrun the page. */
const AROUND_PX = 400;

/** What is seen of the list. */
export interface Seen extends Range {
  isAtEnd: boolean;
}

/** What a virtual list keeps between its commits: it measures rows and holds the scroll position. */
export interface Scroller {
  /** As they were committed. */
  readonly keys: readonly string[];
  readonly offsets: Offsets;
  /** Stays at the end while rows are added there. */
  readonly isAtEnd: boolean;
  /** The row with the focus. */
  focused: number;
  onSeen: (seen: Seen) => void;
  mount(frame: HTMLElement | null, list: HTMLElement | null, setView: (view: View) => void): (() => void) | undefined;
  /** After each commit, before it is painted. */
  commit(keys: readonly string[], offsets: Offsets, change: ListChange, range: Range): void;
  show(index: number, align: Align): void;
  showEnd(): void;
  /** The row is drawn first, if it is not there. */
  focus(index: number): void;
}

export const drawnRange = (offsets: Offsets, view: View): Range => rangeOf(offsets, view, AROUND_PX);

export function createScroller(): Scroller {
  let frame: HTMLElement;
  let list: HTMLElement;
  let setView: (view: View) => void;
  let observer: ResizeObserver;
  const observed = new Set<Element>();
  let keys: readonly string[] = [];
  let offsets = createOffsets(new Float64Array());
  let drawn: Range;
  let isAtEnd = true;
  /** A row on its way into view: rows around it are measured first, and move it. */
  let goal: { index: number; align: Align } | null = null;
  let isFocusWanted = false;
  let told = '';

  const viewNow = (): View => ({ top: frame.scrollTop, height: frame.clientHeight });
  const anchorNow = (): Anchor => offsets.anchorAt(frame.scrollTop);
  // Only rows are in the list.
  const rowsNow = (): HTMLElement[] => [...list.children] as HTMLElement[];
  const indexOf = (row: HTMLElement): number => Number(row.dataset['index']);

  /** Measures the rows that are drawn and puts them where they belong, with the anchor where it was. */
  function settle({ index, into }: Anchor): void {
    // In a closed panel nothing has a height; opened, the frame gets one, and this runs again.
    if (!frame.clientHeight) return;
    const rows = rowsNow();
    // Every row, so without stopping at the first.
    const isMeasured =
      rows.filter((row) => offsets.setHeight(indexOf(row), row.getBoundingClientRect().height)).length > 0;
    if (isMeasured) {
      list.style.height = `${offsets.total()}px`;
      for (const row of rows) row.style.top = `${offsets.offsetOf(indexOf(row))}px`;
    }
    const view = viewNow();
    const top = isAtEnd
      ? endOf(offsets, view.height)
      : goal
        ? topFor(offsets, goal.index, view, goal.align)
        : offsets.offsetOf(index) + into;
    // Less is what the browser rounds.
    if (Math.abs(top - view.top) >= 1) frame.scrollTop = top;
    draw(isMeasured);
  }

  /** Asks for another commit when other rows are in view than are drawn, or were measured. */
  function draw(isMeasured: boolean): void {
    const view = viewNow();
    const { first, last } = drawnRange(offsets, view);
    if (isMeasured || first !== drawn.first || last !== drawn.last) setView(view);
    else goal = null;
    const seen = { ...rangeOf(offsets, view, 0), isAtEnd };
    const telling = [...Object.values(seen), keys.length].join();
    if (telling === told) return;
    told = telling;
    scroller.onSeen(seen);
  }

  function observeRows(): void {
    for (const row of observed)
      if (!row.isConnected) {
        observer.unobserve(row);
        observed.delete(row);
      }
    for (const row of rowsNow())
      if (!observed.has(row)) {
        observed.add(row);
        observer.observe(row);
      }
  }

  function takeFocus(): void {
    const row = rowsNow().find((one) => indexOf(one) === scroller.focused);
    if (!row || !isFocusWanted) return;
    isFocusWanted = false;
    row.focus({ preventScroll: true });
  }

  function onScroll(): void {
    const { top, height } = viewNow();
    if (!height) return;
    isAtEnd = offsets.total() - top - height < END_PX;
    draw(false);
  }

  const scroller: Scroller = {
    get keys() {
      return keys;
    },
    get offsets() {
      return offsets;
    },
    get isAtEnd() {
      return isAtEnd;
    },
    focused: -1,
    onSeen: () => {},
    mount(givenFrame, givenList, givenSetView) {
      if (!givenFrame || !givenList) return;
      [frame, list, setView] = [givenFrame, givenList, givenSetView];
      // Text that is edited, a picture that came, another width: heights change without a commit of the list.
      observer = new ResizeObserver(() => settle(anchorNow()));
      observer.observe(frame);
      frame.addEventListener('scroll', onScroll, { passive: true });
      return () => {
        givenFrame.removeEventListener('scroll', onScroll);
        observer.disconnect();
        observed.clear();
      };
    },
    commit(nextKeys, nextOffsets, change, range) {
      const { index, into } = anchorNow();
      const isOther = keys !== nextKeys;
      [keys, offsets, drawn] = [nextKeys, nextOffsets, range];
      if (isOther && scroller.focused >= 0) scroller.focused = movedBy(change, scroller.focused);
      observeRows();
      settle({ index: isOther ? movedBy(change, index) : index, into });
      takeFocus();
    },
    show(index, align) {
      isAtEnd = false;
      goal = { index, align };
      settle(anchorNow());
    },
    showEnd() {
      isAtEnd = true;
      settle(anchorNow());
    },
    focus(index) {
      scroller.focused = index;
      isFocusWanted = true;
      scroller.show(index, 'nearest');
      takeFocus();
    },
  };
  return scroller;
}
