import { type CheckStep, checkConnection } from '@parley/client';
import { useEffect, useRef, useState } from 'react';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { span } from '../../kit/numbers.ts';
import { type Mint, newIdentity } from './call.ts';
import { type CallWord, t } from './texts.ts';

const names: Readonly<Record<CheckStep['name'], CallWord>> = {
  browser: 'test-call.browser',
  secureContext: 'test-call.secureContext',
  signaling: 'test-call.signaling',
  media: 'test-call.media',
  data: 'test-call.dataChannel',
  camera: 'words.camera',
  microphone: 'words.microphone',
};
const order = Object.keys(names) as CheckStep['name'][];

const results: Readonly<Record<CheckStep['status'], readonly [CallWord, Tone, 'dot' | 'ring' | 'square']>> = {
  ok: ['words.good', 'ok', 'dot'],
  failed: ['words.failed', 'bad', 'square'],
  skipped: ['test-call.skipped', 'plain', 'ring'],
};

/** Would a call from here work? Each step as it ends. It joins the room for a moment, so it waits to be asked. */
export function Preflight({ mint }: { mint: Mint }) {
  const [steps, setSteps] = useState<readonly CheckStep[]>([]);
  const [isRunning, setRunning] = useState(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);

  async function run(): Promise<void> {
    setSteps([]);
    setRunning(true);
    const identity = newIdentity('check');
    for await (const step of checkConnection({
      url: location.origin,
      token: async () => (await mint(identity)).token,
    })) {
      if (isGone.current) break;
      setSteps((now) => [...now, step]);
    }
    setRunning(false);
  }

  return (
    <section className="panel stack" aria-labelledby="preflight">
      <h2 id="preflight">{t('test-call.beforeYouJoin')}</h2>
      <ul className="preflight" aria-live="polite">
        {order.map((name, index) => {
          const step = steps.find((one) => one.name === name);
          return (
            <li key={name}>
              <span>{t(names[name])}</span>
              {step ? (
                <Result step={step} />
              ) : (
                <span className="muted">
                  {t(isRunning && index === steps.length ? 'test-call.trying' : 'test-call.notTried')}
                </span>
              )}
              {step?.error && <p className="field-error">{step.error.message}</p>}
            </li>
          );
        })}
      </ul>
      <div className="row">
        <Button isBusy={isRunning} onClick={() => void run()}>
          {t('test-call.check')}
        </Button>
        <span className="muted">{t('test-call.checkNote')}</span>
      </div>
    </section>
  );
}

function Result({ step }: { step: CheckStep }) {
  const [word, tone, shape] = results[step.status];
  return (
    <span className="row">
      {step.detail && <span className="muted">{step.detail}</span>}
      {step.ms > 0 && <span className="muted">{span(step.ms)}</span>}
      <Badge tone={tone} shape={shape}>
        {t(word)}
      </Badge>
    </span>
  );
}
