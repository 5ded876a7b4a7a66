export interface Autoplay {
  /** The browser refused to play it. */
  block(element: HTMLMediaElement): void;
  forget(element: HTMLMediaElement): void;
  /** Plays everything that was refused; works in a click. */
  start(): Promise<void>;
}

/** Elements that the browser does not play before the user made a gesture. */
export function createAutoplay(onBlocked: (isBlocked: boolean) => void): Autoplay {
  const blocked = new Set<HTMLMediaElement>();
  return {
    block(element) {
      blocked.add(element);
      onBlocked(true);
    },
    forget: (element) => void blocked.delete(element),
    async start() {
      await Promise.all([...blocked].map((element) => element.play()));
      blocked.clear();
      onBlocked(false);
    },
  };
}
