import type { Devices } from '@parley/client';
import { CameraIcon, CameraOffIcon, MicrophoneIcon, MicrophoneOffIcon } from '../icons.tsx';
import { useTexts } from '../texts.tsx';
import { ControlButton } from './control-button.tsx';
import { DeviceMenu } from './device-menu.tsx';

interface MediaSwitchProps {
  kind: 'microphone' | 'camera';
  shortcut?: string | undefined;
  isOn: boolean;
  isDisabled: boolean;
  /** Listed beside it. */
  devices?: Devices | undefined;
  onToggle: () => void;
  onError?: ((error: unknown) => void) | undefined;
}

const SWITCHES = {
  microphone: { icons: [MicrophoneIcon, MicrophoneOffIcon], kinds: ['microphone', 'speaker'] },
  camera: { icons: [CameraIcon, CameraOffIcon], kinds: ['camera'] },
} as const;

/** On or off, and the list of devices beside it. */
export function MediaSwitch({ kind, isOn, devices, onToggle, onError, ...button }: MediaSwitchProps) {
  const texts = useTexts();
  const { icons, kinds } = SWITCHES[kind];
  const Icon = icons[isOn ? 0 : 1];
  return (
    <span className="parley-split">
      <ControlButton
        {...button}
        label={texts[kind]}
        hint={(isOn ? texts.turnOff : texts.turnOn)(texts[kind])}
        icon={<Icon />}
        isPressed={isOn}
        kind="off"
        onClick={onToggle}
      />
      {devices && <DeviceMenu devices={devices} kinds={kinds} onError={onError} />}
    </span>
  );
}
