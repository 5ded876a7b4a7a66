import { backgroundBlur } from '@parley/client/blur';
import { useReducer, useState } from 'react';
import type { Select } from '../shared/select.tsx';
import type { Texts } from '../texts.tsx';
import type { chosenOf } from './device-menu.tsx';
import { playTones } from './play-tones.ts';
import type { SettingsProps } from './settings-props.ts';

/** Loaded with the first opening of the settings. Nothing of the kit is imported here: the kit need not be cut for it. */
export interface ProcessingProps extends SettingsProps {
  texts: Texts;
  Select: typeof Select;
  chosenOf: typeof chosenOf;
}

const SOUND = ['noiseSuppression', 'echoCancellation', 'autoGainControl'] as const;

/** Of Media Capture Extensions, which TypeScript does not know yet. */
interface Blur<T> {
  backgroundBlur?: T;
}

/** What is done to sound and picture before they are sent, what is behind oneself, and whether one hears. */
export function Processing(props: ProcessingProps) {
  const { texts, isSelfMirrored, onMirror } = props;
  return (
    <>
      {props.devices && <DeviceProcessing {...props} />}
      <BackgroundSelect {...props} />
      <Check label={texts.mirrorSelf} isOn={isSelfMirrored} onChange={onMirror} />
    </>
  );
}

/** Only what browser and device tell of is offered; for other cameras the application has `backgrounds`. */
function DeviceProcessing(props: ProcessingProps) {
  const {
    room: { self },
    texts,
    onError,
  } = props;
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const run = (work: Promise<unknown>): void => void work.catch((error) => onError?.(error)).then(redraw);
  const sound = self.microphone?.mediaStreamTrack.getSettings() ?? {};
  const picture: Blur<boolean> = self.camera?.mediaStreamTrack.getSettings() ?? {};
  const abilities: Blur<boolean[]> = self.camera?.mediaStreamTrack.getCapabilities?.() ?? {};
  return (
    <>
      <SpeakerTest {...props} />
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

function BackgroundSelect({ texts, Select, backgrounds = [], background, onBackground }: ProcessingProps) {
  if (!onBackground || backgrounds.length === 0) return null;
  return (
    <Select
      label={texts.background}
      value={background ?? ''}
      options={[
        { value: '', label: texts.backgroundNone },
        ...backgrounds.map((name) => ({ value: name, label: name })),
      ]}
      onChange={(name) => onBackground(name || null)}
    />
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
function SpeakerTest({ devices, texts, chosenOf, onError }: ProcessingProps) {
  const [isPlaying, setPlaying] = useState(false);
  const play = async (): Promise<void> => {
    setPlaying(true);
    const speaker = devices && chosenOf(devices.state.getSnapshot(), 'speaker');
    await playTones(speaker).catch((error) => onError?.(error));
    setPlaying(false);
  };
  return (
    <button type="button" className="parley-button parley-self-start" disabled={isPlaying} onClick={() => void play()}>
      {isPlaying ? texts.playing : texts.testSpeaker}
    </button>
  );
}
