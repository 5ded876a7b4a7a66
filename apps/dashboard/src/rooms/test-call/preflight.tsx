import { type CheckStep, checkConnection } from '@parley/client';
import { useEffect, useRef, useState } from 'react';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { span } from '../../kit/numbers.ts';
import { type Mint, newIdentity } from './call.ts';

const names: Readonly<Record<CheckStep['name'], string>> = {
  browser: 'Browser',
  secureContext: 'Secure context',
  signaling: 'Signaling',
  media: 'Media over UDP or TCP',
  data: 'Data channel',
  camera: 'Camera',
  microphone: 'Microphone',
};
const order = Object.keys(names) as CheckStep['name'][];

const results: Readonly<Record<CheckStep['status'], readonly [string, Tone, 'dot' | 'ring' | 'square']>> = {
  ok: ['Good', 'ok', 'dot'],
  failed: ['Failed', 'bad', 'square'],
  skipped: ['Skipped', 'plain', 'ring'],
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
      <h2 id="preflight">Before you join</h2>
      <ul className="preflight" aria-live="polite">
        {order.map((name, index) => {
          const step = steps.find((one) => one.name === name);
          return (
            <li key={name}>
              <span>{names[name]}</span>
              {step ? (
                <Result step={step} />
              ) : (
                <span className="muted">{isRunning && index === steps.length ? 'Trying' : 'Not tried'}</span>
              )}
              {step?.error && <p className="field-error">{step.error.message}</p>}
            </li>
          );
        })}
      </ul>
      <div className="row">
        <Button isBusy={isRunning} onClick={() => void run()}>
          Check this connection
        </Button>
        <span className="muted">Joins the room for a few seconds.</span>
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
        {word}
      </Badge>
    </span>
  );
}
