import type { ParticipantRecord, Permissions, StreamRecord, TrackRecord, TrackSource } from '../signal/records.ts';
import { type Attachments, createAttachments } from './elements.ts';

export type Quality = 'good' | 'fair' | 'poor' | 'lost';

const QUALITIES: Record<NonNullable<ParticipantRecord['quality']>, Quality> = {
  EXCELLENT: 'good',
  GOOD: 'fair',
  POOR: 'poor',
  LOST: 'lost',
};

/** Null while it is not known. */
export const qualityFrom = (quality: ParticipantRecord['quality']): Quality | null => quality && QUALITIES[quality];

export interface RemoteParticipantPort {
  subscribe(trackIds: string[]): Promise<void>;
  unsubscribe(trackIds: string[]): Promise<void>;
}

/** Another participant. The room keeps its fields up to date. */
export class RemoteParticipant {
  readonly isLocal = false;
  readonly identity: string;
  readonly sessionId: string;
  /** Everything they publish, subscribed or not. */
  readonly publications = new Map<string, TrackRecord>();
  /** What arrives here. */
  readonly tracks = new Map<string, RemoteTrack>();
  metadata: string | null;
  permissions: Permissions;
  quality: Quality | null;
  isSpeaking = false;
  audioLevel = 0;
  readonly #port: RemoteParticipantPort;

  constructor(record: ParticipantRecord, port: RemoteParticipantPort) {
    this.identity = record.identity;
    this.sessionId = record.sessionId;
    this.metadata = record.metadata;
    this.permissions = record.permissions;
    this.quality = qualityFrom(record.quality);
    this.#port = port;
  }

  /** Takes their tracks, or these; needed only with `autoSubscribe: false`. */
  subscribe(trackIds: string[] = [...this.publications.keys()]): Promise<void> {
    return this.#port.subscribe(trackIds);
  }

  unsubscribe(trackIds: string[] = [...this.publications.keys()]): Promise<void> {
    return this.#port.unsubscribe(trackIds);
  }
}

/** What the application asks for, whatever the size on the page. */
export interface TrackPreferences {
  enabled?: boolean;
  maxLayer?: number;
  fps?: number;
}

export type TrackQuality = 'low' | 'medium' | 'high';

export interface RemoteTrackPort {
  /** What the server said last of what it sends. */
  stream(trackId: string): StreamRecord | undefined;
  prefer(trackId: string, preferences: TrackPreferences): void;
  /** The application has its media, and may play it by itself. */
  taken(trackId: string): void;
  shown(trackId: string, element: HTMLMediaElement, kind: 'audio' | 'video'): void;
  hidden(trackId: string, element: HTMLMediaElement): void;
  blocked(element: HTMLMediaElement): void;
  getStats(trackId: string): Promise<RTCStatsReport | null>;
}

const LAYERS: Record<TrackQuality, number> = { low: 0, medium: 1, high: 2 };

/** `paused`: the server sends nothing of the track for now. */
export type StreamState = 'active' | 'paused';
/** `bandwidth`: the path cannot carry it; `settings`: not shown or not enabled here; `muted`: by its publisher. */
export type PauseReason = 'bandwidth' | 'settings' | 'muted';

/** Media of another participant, as it arrives here. */
export class RemoteTrack {
  readonly id: string;
  readonly kind: 'audio' | 'video';
  readonly source: TrackSource;
  readonly participant: RemoteParticipant;
  readonly #media: MediaStreamTrack;
  readonly #port: RemoteTrackPort;
  readonly #attachments: Attachments;

  constructor(record: TrackRecord, media: MediaStreamTrack, participant: RemoteParticipant, port: RemoteTrackPort) {
    this.id = record.id;
    this.kind = record.kind === 'AUDIO' ? 'audio' : 'video';
    this.source = record.source;
    this.participant = participant;
    this.#media = media;
    this.#port = port;
    this.#attachments = createAttachments(media, {
      kind: this.kind,
      isSilent: false,
      onAttached: (element) => port.shown(this.id, element, this.kind),
      onDetached: (element) => port.hidden(this.id, element),
      onBlocked: (element) => port.blocked(element),
    });
  }

  /** To play it by yourself: who reads it gets the largest layer, unless the track is attached too. */
  get mediaStreamTrack(): MediaStreamTrack {
    if (this.kind === 'video') this.#port.taken(this.id);
    return this.#media;
  }

  get isMuted(): boolean {
    return this.participant.publications.get(this.id)?.muted ?? true;
  }

  get streamState(): StreamState {
    return this.#port.stream(this.id)?.state === 'PAUSED' ? 'paused' : 'active';
  }

  /** Null while the stream is active. */
  get pauseReason(): PauseReason | null {
    const { state, reason = null } = this.#port.stream(this.id) ?? {};
    return state === 'PAUSED' && reason ? (reason.toLowerCase() as Lowercase<typeof reason>) : null;
  }

  /** False keeps the subscription but takes no media. */
  setEnabled(isEnabled: boolean): void {
    this.#port.prefer(this.id, { enabled: isEnabled });
  }

  /** The best that may come; the size on the page may bring less. */
  setQuality(quality: TrackQuality): void {
    this.#port.prefer(this.id, { maxLayer: LAYERS[quality] });
  }

  /** Frames a second at most, where the stream has frames that can be left out; others come whole. */
  setFrameRate(fps: number): void {
    this.#port.prefer(this.id, { fps });
  }

  /** Into this element or a new one, which you put into the page. */
  attach(element?: HTMLMediaElement): HTMLMediaElement {
    return this.#attachments.attach(element);
  }

  /** Elements made by `attach` leave the page. */
  detach(element?: HTMLMediaElement): void {
    this.#attachments.detach(element);
  }

  getStats(): Promise<RTCStatsReport | null> {
    return this.#port.getStats(this.id);
  }
}
