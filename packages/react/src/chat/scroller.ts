import { type ListChange, movedBy } from './list-change.ts';
import { type Anchor, createOffsets, type Offsets } from './offsets.ts';
import { type Align, endOf, type Range, rangeOf, topFor, type View } from './window.ts';

/** Nearer than this to the end is at the end. */
const END_PX = 8;
/** Drawn beyond the view, so that a quick wheel does not outrun the page. */
const AROUND_PX = 400;
/** Without scrolling for so long, what is around the view is drawn after a jump too. */
const REST_MS = 100;

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
  /** What the next commit draws. */
  view(): View;
  /** Its rows, with those around it. */
  rangeOf(offsets: Offsets, view: View): Range;
  /** Of React's external stores: what they tell is drawn before the frame is painted, a state would come a frame later. */
  subscribe(redraw: () => void): () => void;
  /** `redraw` is for what is measured before there is a subscriber. */
  mount(frame: HTMLElement | null, list: HTMLElement | null, redraw: (view: View) => void): (() => void) | undefined;
  /** After each commit, before it is painted. */
  commit(keys: readonly string[], offsets: Offsets, change: ListChange, range: Range): void;
  show(index: number, align: Align): void;
  showEnd(): void;
  /** The row is drawn first, if it is not there. */
  focus(index: number): void;
}

export function createScroller(): Scroller {
  let frame: HTMLElement;
  let list: HTMLElement;
  let view: View = { top: 0, height: 800 };
  let redraw: (view: View) => void;
  let around = AROUND_PX;
  let rest: ReturnType<typeof setTimeout>;
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

  /**
   * Measures the rows that are drawn and puts them where they belong, with the anchor where it was. All is read before
   * anything is written: each reading after a writing would be one more layout of the page.
   */
  function settle({ index, into }: Anchor): void {
    const now = viewNow();
    // In a closed panel nothing has a height; opened, the frame gets one, and this runs again.
    if (!now.height) return;
    const rows = rowsNow();
    for (const row of rows) offsets.setHeight(indexOf(row), row.getBoundingClientRect().height);
    list.style.height = `${offsets.total()}px`;
    for (const row of rows) row.style.top = `${offsets.offsetOf(indexOf(row))}px`;
    const end = endOf(offsets, now.height);
    const top = isAtEnd
      ? end
      : goal
        ? topFor(offsets, goal.index, now, goal.align)
        : Math.min(end, offsets.offsetOf(index) + into);
    // Less is what the browser rounds.
    if (Math.abs(top - now.top) >= 1) frame.scrollTop = top;
    draw({ ...now, top });
  }

  /** Asks for another commit when rows near the view are missing; some too many do no harm. */
  function draw(now: View): void {
    const { first, last } = rangeOf(offsets, now, around / 2);
    if (first < drawn.first || last > drawn.last) {
      view = now;
      redraw(view);
    } else goal = null;
    const seen = { ...rangeOf(offsets, now, 0), isAtEnd };
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

  /** Thrown so fast that nothing of before is seen, a list draws the view alone: half the work of a frame. */
  function onScroll(): void {
    const now = viewNow();
    if (!now.height) return;
    isAtEnd = offsets.total() - now.top - now.height < END_PX;
    const { first, last } = rangeOf(offsets, now, 0);
    const isJump = first > drawn.last || last < drawn.first;
    around = isJump ? 0 : AROUND_PX;
    clearTimeout(rest);
    if (isJump) rest = setTimeout(onScroll, REST_MS);
    draw(now);
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
    view: () => view,
    rangeOf: (rows, of) => rangeOf(rows, of, around),
    subscribe(listener) {
      redraw = listener;
      return () => {};
    },
    mount(givenFrame, givenList, givenRedraw) {
      if (!givenFrame || !givenList) return;
      [frame, list, redraw] = [givenFrame, givenList, givenRedraw];
      // Text that is edited, a picture that came, another width: heights change without a commit of the list.
      observer = new ResizeObserver(() => settle(anchorNow()));
      observer.observe(frame);
      frame.addEventListener('scroll', onScroll, { passive: true });
      return () => {
        givenFrame.removeEventListener('scroll', onScroll);
        observer.disconnect();
        clearTimeout(rest);
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
