import type { FrameData, SignalingServerFrames } from '@parley/contract';
import type { Participant } from '../room-types.ts';
import { type Quality, qualityFrom } from './remote-participant.ts';

export interface VitalsDeps {
  participants(): Participant[];
  onChange(): void;
  onSpeakers(speaking: Participant[]): void;
  onQuality(quality: Quality, participant: Participant): void;
}

type Speakers = FrameData<SignalingServerFrames['speakers']>['speakers'];
type QualityUpdates = FrameData<SignalingServerFrames['quality']>['updates'];

export interface Vitals {
  updateSpeakers(speakers: Speakers): void;
  updateQuality(updates: QualityUpdates): void;
  /** Who speaks now, loudest first. */
  readonly speaking: Participant[];
}

/** Active speakers, and each participant's connection quality. */
export function createVitals({ participants, onChange, onSpeakers, onQuality }: VitalsDeps): Vitals {
  const find = (identity: string): Participant | undefined => participants().find((one) => one.identity === identity);

  const speaking = (): Participant[] =>
    participants()
      .filter(({ isSpeaking }) => isSpeaking)
      .sort((a, b) => b.audioLevel - a.audioLevel);

  return {
    get speaking() {
      return speaking();
    },
    updateSpeakers(speakers) {
      for (const { identity, level, active } of speakers) {
        const participant = find(identity);
        if (participant) Object.assign(participant, { audioLevel: level, isSpeaking: active });
      }
      onChange();
      onSpeakers(speaking());
    },
    updateQuality(updates) {
      for (const { identity, quality } of updates) {
        const participant = find(identity);
        const next = qualityFrom(quality);
        if (!participant || participant.quality === next) continue;
        participant.quality = next;
        onChange();
        if (next) onQuality(next, participant);
      }
    },
  };
}
