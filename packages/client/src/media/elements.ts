/** Shows one media track in page elements. */
export interface Attachments {
  /** Into this element, or a new one. */
  attach(element?: HTMLMediaElement): HTMLMediaElement;
  /** Out of this element, or all. Elements made by `attach` leave the page. */
  detach(element?: HTMLMediaElement): void;
  /** Another media track takes the place of the last. */
  show(track: MediaStreamTrack): void;
  readonly elements: ReadonlySet<HTMLMediaElement>;
}

export interface AttachmentOptions {
  kind: 'audio' | 'video';
  /** Own media is not played back to its owner. */
  isSilent: boolean;
  onAttached?(element: HTMLMediaElement): void;
  onDetached?(element: HTMLMediaElement): void;
  /** The browser wants a gesture of the user before it plays sound. */
  onBlocked?(element: HTMLMediaElement): void;
}

export function createAttachments(initial: MediaStreamTrack, options: AttachmentOptions): Attachments {
  const elements = new Set<HTMLMediaElement>();
  const made = new WeakSet<HTMLMediaElement>();
  let track = initial;

  function play(element: HTMLMediaElement): void {
    element.srcObject = new MediaStream([track]);
    element.play().catch((error: DOMException) => {
      if (error.name === 'NotAllowedError') options.onBlocked?.(element);
    });
  }

  function remove(element: HTMLMediaElement): void {
    if (!elements.delete(element)) return;
    element.srcObject = null;
    if (made.has(element)) element.remove();
    options.onDetached?.(element);
  }

  return {
    elements,
    attach(given) {
      const element = given ?? document.createElement(options.kind);
      if (!given) made.add(element);
      element.autoplay = true;
      element.muted = options.isSilent || options.kind === 'video';
      element.setAttribute('playsinline', '');
      elements.add(element);
      play(element);
      options.onAttached?.(element);
      return element;
    },
    detach(element) {
      for (const one of element ? [element] : [...elements]) remove(one);
    },
    show(next) {
      track = next;
      for (const element of elements) play(element);
    },
  };
}
