import type { ParticipantRecord, Permissions, TrackRecord } from '../signal/records.ts';
import type { RemoteTrack } from './remote-track.ts';

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

/** Somebody else in the room. What it shows is kept up to date by the room. */
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
