import type { Devices, Room } from '@parley/client';
import { useParticipant } from '../hooks/use-call.ts';
import { Dialog } from '../shared/dialog.tsx';
import { useTexts } from '../texts.tsx';
import { DeviceSelect } from './device-menu.tsx';
import { Level } from './level.tsx';
import { microphoneOf } from './tracks.ts';

export interface SettingsProps {
  room: Room;
  devices?: Devices | undefined;
  isSelfMirrored: boolean;
  onMirror: (isMirrored: boolean) => void;
  /** Names of what the application can put behind people; the choice is applied by it. */
  backgrounds?: readonly string[] | undefined;
  background?: string | null | undefined;
  onBackground?: ((name: string | null) => void) | undefined;
  onError?: ((error: unknown) => void) | undefined;
  onClose: () => void;
}

/** Devices, the own picture, and what is behind it. */
export function Settings(props: SettingsProps) {
  const { room, devices, isSelfMirrored, onMirror, backgrounds = [], background = null, onBackground } = props;
  const { onError, onClose } = props;
  const texts = useTexts();
  const self = useParticipant(room);
  const microphone = self && microphoneOf(self)?.track;
  return (
    <Dialog title={texts.settings} onClose={onClose}>
      <div className="parley-stack">
        {devices && (
          <>
            <DeviceSelect devices={devices} kind="microphone" onError={onError} />
            <Level track={microphone?.mediaStreamTrack ?? null} />
            <DeviceSelect devices={devices} kind="speaker" onError={onError} />
            <DeviceSelect devices={devices} kind="camera" onError={onError} />
          </>
        )}
        {onBackground && backgrounds.length > 0 && (
          <label className="parley-field">
            {texts.background}
            <select
              className="parley-input"
              value={background ?? ''}
              onChange={({ target }) => onBackground(target.value || null)}
            >
              <option value="">{texts.backgroundNone}</option>
              {backgrounds.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <label className="parley-check">
          <input type="checkbox" checked={isSelfMirrored} onChange={({ target }) => onMirror(target.checked)} />
          {texts.mirrorSelf}
        </label>
      </div>
    </Dialog>
  );
}
