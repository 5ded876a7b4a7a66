import type { FrameData, SignalingServerFrames } from '@parley/contract';
import type { Participant } from '../room-types.ts';
import { type Quality, qualityFrom } from './remote-participant.ts';

export interface VitalsDeps {
  participants(): Participant[];
  onChange(): void;
  /** Loudest first. */
  onSpeakers(speaking: Participant[]): void;
  onQuality(quality: Quality, participant: Participant): void;
}

type Speakers = FrameData<SignalingServerFrames['speakers']>['speakers'];
type QualityUpdates = FrameData<SignalingServerFrames['quality']>['updates'];

export interface Vitals {
  updateSpeakers(speakers: Speakers): void;
  updateQuality(updates: QualityUpdates): void;
}

/** Active speakers, and each participant's connection quality. */
export function createVitals({ participants, onChange, onSpeakers, onQuality }: VitalsDeps): Vitals {
  const find = (identity: string): Participant | undefined => participants().find((one) => one.identity === identity);

  return {
    updateSpeakers(speakers) {
      for (const { identity, level, active } of speakers) {
        const participant = find(identity);
        if (participant) Object.assign(participant, { audioLevel: level, isSpeaking: active });
      }
      onChange();
      const speaking = participants().filter(({ isSpeaking }) => isSpeaking);
      onSpeakers(speaking.sort((a, b) => b.audioLevel - a.audioLevel));
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
