import type { FrameData, SignalingServerFrames } from '@parley/contract';
import type { Participant } from '../room-types.ts';
import { type Quality, qualityFrom } from './remote-participant.ts';

export interface ParticipantStatusDeps {
  participants(): Participant[];
  find(identity: string): Participant | undefined;
  onChange(...changed: Participant[]): void;
  onSpeakers(speaking: Participant[]): void;
  onQuality(quality: Quality, participant: Participant): void;
}

type Speakers = FrameData<SignalingServerFrames['speakers']>['speakers'];
type QualityUpdates = FrameData<SignalingServerFrames['quality']>['updates'];

export interface ParticipantStatus {
  updateSpeakers(speakers: Speakers): void;
  updateQuality(updates: QualityUpdates): void;
  /** Who speaks now, loudest first. */
  speaking(): Participant[];
}

/** Active speakers, and each participant's connection quality. */
export function createParticipantStatus({
  participants,
  find,
  onChange,
  onSpeakers,
  onQuality,
}: ParticipantStatusDeps): ParticipantStatus {
  const speaking = (): Participant[] =>
    participants()
      .filter(({ isSpeaking }) => isSpeaking)
      .sort((a, b) => b.audioLevel - a.audioLevel);

  return {
    speaking,
    updateSpeakers(speakers) {
      const changed = speakers.flatMap(({ identity, level, active }) => {
        const participant = find(identity);
        return participant ? Object.assign(participant, { audioLevel: level, isSpeaking: active }) : [];
      });
      onChange(...changed);
      onSpeakers(speaking());
    },
    updateQuality(updates) {
      const changed = updates.flatMap(({ identity, quality }) => {
        const participant = find(identity);
        const next = qualityFrom(quality);
        return participant && participant.quality !== next ? Object.assign(participant, { quality: next }) : [];
      });
      onChange(...changed);
      for (const participant of changed) if (participant.quality) onQuality(participant.quality, participant);
    },
  };
}
