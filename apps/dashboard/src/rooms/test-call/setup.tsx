import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Segments, SelectField } from '../../kit/field.tsx';
import type { Mint, Source } from './call.ts';
import { Preflight } from './preflight.tsx';
import { Preview } from './preview.tsx';
import { useDevices } from './use-devices.ts';

/** Before the call: what to send, whether it would get through, and the way in. */
export function Setup(props: { mint: Mint; isBusy: boolean; onJoin: (source: Source) => void }) {
  const [kind, setKind] = useState<Source['kind']>('pattern');
  const [cameraId, setCameraId] = useState('');
  const [microphoneId, setMicrophoneId] = useState('');
  const source: Source = kind === 'pattern' ? { kind } : { kind, cameraId, microphoneId };
  const { cameras, microphones, error } = useDevices(kind === 'devices');
  return (
    <div className="columns">
      <section className="panel stack" aria-labelledby="call-source">
        <h2 id="call-source">What to send</h2>
        <Segments
          label="What to send"
          value={kind}
          options={[
            { value: 'pattern', label: 'Test pattern' },
            { value: 'devices', label: 'Camera and microphone' },
          ]}
          onChange={setKind}
        />
        {kind === 'pattern' ? (
          <p className="muted">A moving test card and a quiet tone: needs no camera and asks for nothing.</p>
        ) : (
          <>
            <SelectField
              label="Camera"
              value={cameraId}
              options={optionsOf(cameras, 'camera')}
              onChange={(event) => setCameraId(event.target.value)}
            />
            <SelectField
              label="Microphone"
              value={microphoneId}
              options={optionsOf(microphones, 'microphone')}
              onChange={(event) => setMicrophoneId(event.target.value)}
            />
            <Preview cameraId={cameraId} microphoneId={microphoneId} />
            {error && <p className="field-error">{error}</p>}
          </>
        )}
        <div className="row">
          <Button variant="primary" isBusy={props.isBusy} onClick={() => props.onJoin(source)}>
            Join the call
          </Button>
        </div>
      </section>
      <Preflight mint={props.mint} />
    </div>
  );
}

const optionsOf = (devices: readonly MediaDeviceInfo[], what: string) => [
  { value: '', label: `Default ${what}` },
  ...devices
    .filter(({ deviceId }) => deviceId !== '' && deviceId !== 'default')
    .map(({ deviceId, label }, index) => ({ value: deviceId, label: label || `${what} ${index + 1}` })),
];
