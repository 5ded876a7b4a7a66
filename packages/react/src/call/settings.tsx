import type { Devices, Room } from '@parley/client';
import { type ComponentType, useEffect, useState } from 'react';
import { useDevices, useParticipant } from '../hooks/use-call.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Select } from '../shared/select.tsx';
import { useTexts } from '../texts.tsx';
import { chosenOf, DeviceSelect } from './device-menu.tsx';
import { Level } from './level.tsx';
import type { ProcessingProps } from './processing.tsx';
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

/** Devices, what is done to sound and picture, and what is behind oneself. */
export function Settings(props: SettingsProps) {
  const { room, devices, isSelfMirrored, onMirror, onError, onClose } = props;
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
            <DeviceSelect devices={devices} kind="camera" onError={onError} />
            <DeviceSelect devices={devices} kind="speaker" onError={onError} />
            <LaterProcessing room={room} devices={devices} onError={onError} />
          </>
        )}
        <BackgroundSelect {...props} />
        <label className="parley-check">
          <input type="checkbox" checked={isSelfMirrored} onChange={({ target }) => onMirror(target.checked)} />
          {texts.mirrorSelf}
        </label>
      </div>
    </Dialog>
  );
}

function LaterProcessing({ room, devices, onError }: Pick<SettingsProps, 'room' | 'onError'> & { devices: Devices }) {
  const texts = useTexts();
  const speaker = chosenOf(useDevices(devices), 'speaker');
  const [Part, setPart] = useState<ComponentType<ProcessingProps> | null>(null);
  useEffect(() => {
    import('./processing.tsx').then(({ Processing }) => setPart(() => Processing), onError);
  }, [onError]);
  return Part && <Part room={room} texts={texts} speaker={speaker} onError={onError} />;
}

function BackgroundSelect({ backgrounds = [], background, onBackground }: SettingsProps) {
  const texts = useTexts();
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
