import { type ComponentType, useEffect, useState } from 'react';
import { useParticipant } from '../hooks/use-call.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Select } from '../shared/select.tsx';
import { useTexts } from '../texts.tsx';
import { chosenOf, DeviceSelect } from './device-menu.tsx';
import { Level } from './level.tsx';
import type { ProcessingProps } from './processing.tsx';
import type { SettingsProps } from './settings-props.ts';
import { microphoneOf } from './tracks.ts';

/** Devices, what is done to sound and picture, and what is behind oneself. */
export function Settings(props: SettingsProps) {
  const { room, devices, onError, onClose } = props;
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
          </>
        )}
        <LaterProcessing {...props} />
      </div>
    </Dialog>
  );
}

function LaterProcessing(props: SettingsProps) {
  const { onError } = props;
  const texts = useTexts();
  const [Part, setPart] = useState<ComponentType<ProcessingProps> | null>(null);
  useEffect(() => {
    import('./processing.tsx').then(({ Processing }) => setPart(() => Processing), onError);
  }, [onError]);
  return Part && <Part {...props} texts={texts} Select={Select} chosenOf={chosenOf} />;
}
