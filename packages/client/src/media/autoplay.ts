export interface Autoplay {
  readonly isBlocked: boolean;
  /** The browser refused to play it. */
  block(element: HTMLMediaElement): void;
  forget(element: HTMLMediaElement): void;
  /** Plays everything that was refused; works in a click. */
  start(): Promise<void>;
}

/** Elements that the browser does not play before the user made a gesture. */
export function createAutoplay(onBlocked: (isBlocked: boolean) => void): Autoplay {
  const blocked = new Set<HTMLMediaElement>();
  /** Told once each time it changes. */
  function change(run: () => void): void {
    const before = blocked.size > 0;
    run();
    if (before !== blocked.size > 0) onBlocked(!before);
  }
  return {
    get isBlocked() {
      return blocked.size > 0;
    },
    block: (element) => change(() => blocked.add(element)),
    forget: (element) => change(() => blocked.delete(element)),
    async start() {
      await Promise.all([...blocked].map((element) => element.play()));
      change(() => blocked.clear());
    },
  };
}
