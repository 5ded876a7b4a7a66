import type { Frame } from '../link.ts';
import type { Participant } from '../room-types.ts';
import type { ParticipantRecord } from '../signal/records.ts';
import { type Quality, qualityFrom } from './remote-participant.ts';

export interface VitalsDeps {
  everybody(): Participant[];
  onChange(): void;
  /** Loudest first. */
  onSpeakers(speaking: Participant[]): void;
  onQuality(quality: Quality, participant: Participant): void;
}

export interface Vitals {
  /** False when the frame is none of ours. */
  take(frame: Frame): boolean;
}

interface VitalsFrame {
  speakers: { identity: string; level: number; active: boolean }[];
  updates: { identity: string; quality: ParticipantRecord['quality'] }[];
}

/** Who speaks, and how good everybody's connection is. */
export function createVitals({ everybody, onChange, onSpeakers, onQuality }: VitalsDeps): Vitals {
  const find = (identity: string): Participant | undefined => everybody().find((one) => one.identity === identity);

  function hear(speakers: VitalsFrame['speakers']): void {
    for (const { identity, level, active } of speakers) {
      const participant = find(identity);
      if (participant) Object.assign(participant, { audioLevel: level, isSpeaking: active });
    }
    onChange();
    const speaking = everybody().filter(({ isSpeaking }) => isSpeaking);
    onSpeakers(speaking.sort((a, b) => b.audioLevel - a.audioLevel));
  }

  function judge(updates: VitalsFrame['updates']): void {
    for (const { identity, quality } of updates) {
      const participant = find(identity);
      const next = qualityFrom(quality);
      if (!participant || participant.quality === next) continue;
      participant.quality = next;
      onChange();
      if (next) onQuality(next, participant);
    }
  }

  return {
    take(frame) {
      // The frames of the contract's table.
      const { speakers = [], updates = [] } = frame as Frame & Partial<VitalsFrame>;
      if (frame.type === 'speakers') hear(speakers);
      else if (frame.type === 'quality') judge(updates);
      else return false;
      return true;
    },
  };
}
