/** A video that a subscriber may get. */
export interface Candidate {
  /** False while the client itself wants nothing of it: it takes no place. */
  isWanted: boolean;
  /** The client's, higher first: what is pinned, then screens. */
  priority: number;
  /** The client said how large it shows it. */
  isShown: boolean;
  isSent: boolean;
  /** When its publisher last spoke. */
  spokeAt: number;
}

/** Who is seen keeps the place while others have spoken no longer after than this. */
const KEPT_MS = 1000;

/** Which of the videos fill so many places: pinned, then shown, then of who spoke last, then the first that came. */
export function chooseVisible(candidates: readonly Candidate[], places: number): Set<Candidate> {
  const lastOf = ({ spokeAt, isSent }: Candidate): number => (isSent ? spokeAt + KEPT_MS : spokeAt);
  const order = candidates
    .filter(({ isWanted }) => isWanted)
    .sort(
      (a, b) => b.priority - a.priority || Number(b.isShown) - Number(a.isShown) || compare(lastOf(b), lastOf(a)) || 0,
    );
  return new Set(order.slice(0, places));
}

/** Nobody has spoken: infinities, whose difference is no number. */
const compare = (a: number, b: number): number => (a === b ? 0 : a > b ? 1 : -1);
