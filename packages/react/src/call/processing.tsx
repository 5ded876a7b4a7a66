import type { Room } from '@parley/client';
import { backgroundBlur } from '@parley/client/blur';
import { useReducer, useState } from 'react';
import type { Texts } from '../texts.tsx';
import { playTones } from './play-tones.ts';

/** Loaded with the first opening of the settings. Nothing of the kit is imported here: the kit need not be cut for it. */
export interface ProcessingProps {
  room: Room;
  texts: Texts;
  /** The chosen one; undefined: the system's. */
  speaker: string | undefined;
  onError?: ((error: unknown) => void) | undefined;
}

const SOUND = ['noiseSuppression', 'echoCancellation', 'autoGainControl'] as const;

/** Of Media Capture Extensions, which TypeScript does not know yet. */
interface Blur<T> {
  backgroundBlur?: T;
}

/**
 * What is done to sound and picture before they are sent, and whether one hears. Only what browser and device tell of
 * is offered; for other cameras the application has `backgrounds`.
 */
export function Processing({ room: { self }, texts, speaker, onError }: ProcessingProps) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const run = (work: Promise<unknown>): void => void work.catch((error) => onError?.(error)).then(redraw);
  const sound = self.microphone?.mediaStreamTrack.getSettings() ?? {};
  const picture: Blur<boolean> = self.camera?.mediaStreamTrack.getSettings() ?? {};
  const abilities: Blur<boolean[]> = self.camera?.mediaStreamTrack.getCapabilities?.() ?? {};
  return (
    <>
      <SpeakerTest texts={texts} speaker={speaker} onError={onError} />
      {SOUND.filter((setting) => typeof sound[setting] === 'boolean').map((setting) => (
        <Check
          key={setting}
          label={texts[setting]}
          isOn={sound[setting] === true}
          onChange={(isOn) => run(self.setMicrophone(true, { [setting]: isOn }))}
        />
      ))}
      {abilities.backgroundBlur?.includes(true) && (
        <Check
          label={texts.blurBackground}
          isOn={picture.backgroundBlur === true}
          onChange={(isOn) => run(self.setCamera(true, { processor: isOn ? backgroundBlur() : null }))}
        />
      )}
    </>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label className="parley-check">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}

/** Plays two short tones on the chosen speaker. */
function SpeakerTest({ texts, speaker, onError }: Omit<ProcessingProps, 'room'>) {
  const [isPlaying, setPlaying] = useState(false);
  const play = async (): Promise<void> => {
    setPlaying(true);
    await playTones(speaker).catch((error) => onError?.(error));
    setPlaying(false);
  };
  return (
    <button type="button" className="parley-button parley-self-start" disabled={isPlaying} onClick={() => void play()}>
      {isPlaying ? texts.playing : texts.testSpeaker}
    </button>
  );
}
