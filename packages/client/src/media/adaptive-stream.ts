import type { Runtime } from '../runtime.ts';
import type { TrackSettings } from '../signal/records.ts';
import type { TrackPreferences } from './remote-participant.ts';

export interface AdaptiveStreamDeps {
  runtime: Pick<Runtime, 'setTimer'>;
  /** False: only the application's own settings are sent. */
  isOn: boolean;
  send(updates: TrackSettings[]): void;
}

export interface AdaptiveStream {
  show(trackId: string, element: HTMLMediaElement): void;
  hide(trackId: string, element: HTMLMediaElement): void;
  prefer(trackId: string, preferences: TrackPreferences): void;
  /** It may be shown where nothing can be measured. */
  take(trackId: string): void;
  forget(trackId: string): void;
  /** A new session knows none of the settings sent before. */
  reset(): void;
  /** The call is over; the next one may begin. */
  close(): void;
}

interface Watched {
  elements: Map<HTMLVideoElement, { isVisible: boolean }>;
  preferences: TrackPreferences;
  isTaken?: boolean;
  /** The settings sent last, as text. */
  sent: string;
}

/** Changes within this time go out together: scrolling past fifty tiles is one frame. */
const BATCH_MS = 250;
const BATCH_MAX = 100;
/** Larger than any layer. */
const WHOLE = { enabled: true, height: 16_384 };

/** Reports how large each video is shown, so that no larger layer is sent. */
export function createAdaptiveStream({ runtime, isOn, send }: AdaptiveStreamDeps): AdaptiveStream {
  const watched = new Map<string, Watched>();
  let cancel: (() => void) | null = null;
  const canObserve = isOn && typeof IntersectionObserver !== 'undefined';
  let observers: ReturnType<typeof observe> | null = null;

  function entryOf(trackId: string): Watched {
    const entry = watched.get(trackId) ?? { elements: new Map(), preferences: {}, sent: '' };
    watched.set(trackId, entry);
    return entry;
  }

  function changed(element?: Element, isVisible?: boolean): void {
    for (const { elements } of watched.values()) {
      const state = element && elements.get(element as HTMLVideoElement);
      if (state && isVisible !== undefined) state.isVisible = isVisible;
    }
    cancel ??= runtime.setTimer(sendUpdates, BATCH_MS);
  }

  function sendUpdates(): void {
    cancel = null;
    const updates: TrackSettings[] = [];
    for (const [trackId, entry] of watched) {
      const settings = settingsOf(entry);
      const text = JSON.stringify(settings);
      if (text === entry.sent || text === '{}') continue;
      entry.sent = text;
      updates.push({ trackId, ...settings });
    }
    for (let at = 0; at < updates.length; at += BATCH_MAX) send(updates.slice(at, at + BATCH_MAX));
  }

  function settingsOf({ elements, preferences, isTaken }: Watched): Omit<TrackSettings, 'trackId'> {
    if (elements.size === 0) return isTaken ? { ...WHOLE, ...preferences } : preferences;
    const isPageHidden = document.visibilityState === 'hidden';
    const visible = [...elements].filter(
      ([element, { isVisible }]) => document.pictureInPictureElement === element || (isVisible && !isPageHidden),
    );
    if (visible.length === 0 || preferences.enabled === false) return { ...preferences, enabled: false };
    const ratio = globalThis.devicePixelRatio || 1;
    const largest = (side: 'clientWidth' | 'clientHeight'): number =>
      Math.round(Math.max(...visible.map(([element]) => element[side])) * ratio);
    return { ...preferences, enabled: true, width: largest('clientWidth'), height: largest('clientHeight') };
  }

  function take(trackId: string): void {
    const entry = entryOf(trackId);
    if (!isOn || entry.isTaken) return;
    entry.isTaken = true;
    changed();
  }

  return {
    take,
    show(trackId, element) {
      if (!(element instanceof HTMLVideoElement)) return;
      if (!canObserve) return take(trackId);
      // Seen until the observer says otherwise: the first frame must not wait for it.
      entryOf(trackId).elements.set(element, { isVisible: true });
      observers ??= observe(changed);
      observers.watch(element);
    },
    hide(trackId, element) {
      if (!observers || !(element instanceof HTMLVideoElement)) return;
      watched.get(trackId)?.elements.delete(element);
      observers.unwatch(element);
      changed();
    },
    prefer(trackId, preferences) {
      const entry = entryOf(trackId);
      entry.preferences = { ...entry.preferences, ...preferences };
      changed();
    },
    forget(trackId) {
      for (const element of watched.get(trackId)?.elements.keys() ?? []) observers?.unwatch(element);
      watched.delete(trackId);
    },
    reset() {
      for (const entry of watched.values()) entry.sent = '';
      changed();
    },
    close() {
      cancel?.();
      cancel = null;
      observers?.close();
      observers = null;
      watched.clear();
    },
  };
}

function observe(onChange: (element?: Element, isVisible?: boolean) => void) {
  const sizes = new ResizeObserver(() => onChange());
  const places = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) onChange(target, isIntersecting);
  });
  const onVisibility = (): void => onChange();
  document.addEventListener('visibilitychange', onVisibility);
  return {
    watch(element: Element): void {
      sizes.observe(element);
      places.observe(element);
    },
    unwatch(element: Element): void {
      sizes.unobserve(element);
      places.unobserve(element);
    },
    close(): void {
      sizes.disconnect();
      places.disconnect();
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
}
