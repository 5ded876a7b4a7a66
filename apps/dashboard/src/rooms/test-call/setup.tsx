import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Segments, SelectField } from '../../kit/field.tsx';
import type { Mint, Source } from './call.ts';
import { Preflight } from './preflight.tsx';
import { Preview } from './preview.tsx';
import { type CallWord, t } from './texts.ts';
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
        <h2 id="call-source">{t('test-call.whatToSend')}</h2>
        <Segments
          label={t('test-call.whatToSend')}
          value={kind}
          options={[
            { value: 'pattern', label: t('test-call.pattern') },
            { value: 'devices', label: t('test-call.devices') },
          ]}
          onChange={setKind}
        />
        {kind === 'pattern' ? (
          <p className="muted">{t('test-call.patternExplained')}</p>
        ) : (
          <>
            <SelectField
              label={t('words.camera')}
              value={cameraId}
              options={optionsOf(cameras, 'test-call.defaultCamera', 'test-call.cameraNumber')}
              onChange={(event) => setCameraId(event.target.value)}
            />
            <SelectField
              label={t('words.microphone')}
              value={microphoneId}
              options={optionsOf(microphones, 'test-call.defaultMicrophone', 'test-call.microphoneNumber')}
              onChange={(event) => setMicrophoneId(event.target.value)}
            />
            <Preview cameraId={cameraId} microphoneId={microphoneId} />
            {error && <p className="field-error">{error}</p>}
          </>
        )}
        <div className="row">
          <Button variant="primary" isBusy={props.isBusy} onClick={() => props.onJoin(source)}>
            {t('test-call.join')}
          </Button>
        </div>
      </section>
      <Preflight mint={props.mint} />
    </div>
  );
}

const optionsOf = (
  devices: readonly MediaDeviceInfo[],
  standard: CallWord,
  unnamed: 'test-call.cameraNumber' | 'test-call.microphoneNumber',
) => [
  { value: '', label: t(standard) },
  ...devices
    .filter(({ deviceId }) => deviceId !== '' && deviceId !== 'default')
    .map(({ deviceId, label }, index) => ({ value: deviceId, label: label || t(unnamed, { number: index + 1 }) })),
];
