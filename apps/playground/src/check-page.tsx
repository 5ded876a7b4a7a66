import { type CheckStep, checkConnection } from '@parley/client';
import { useState } from 'react';
import { backend } from './backend.ts';
import { identityOf } from './identity.ts';
import { Problem } from './problem.tsx';
import { usePageTitle } from './use-page-title.ts';

const names: Readonly<Record<CheckStep['name'], string>> = {
  browser: 'Browser',
  secureContext: 'Secure page',
  signaling: 'Signaling',
  media: 'Media',
  data: 'Data',
  camera: 'Camera',
  microphone: 'Microphone',
};
const words = { ok: 'Works', failed: 'Failed', skipped: 'Skipped' } as const;

export function CheckPage() {
  usePageTitle('Connection check');
  const [steps, setSteps] = useState<readonly CheckStep[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const run = async (): Promise<void> => {
    setRunning(true);
    setSteps([]);
    try {
      await backend.openRoom('demo');
      const token = (): Promise<string> => backend.rtcToken('demo', identityOf('check'), 'Connection check');
      for await (const step of checkConnection({ url: location.origin, token }))
        setSteps((before) => [...before, step]);
      setError(null);
    } catch (problem) {
      setError(problem);
    } finally {
      setRunning(false);
    }
  };

  return (
    <div className="narrow stack">
      <h1>Connection check</h1>
      <p className="muted">Tries, step by step, what a call needs.</p>
      <Problem error={error} />
      <button
        type="button"
        className="button button-primary self-start"
        aria-busy={isRunning || undefined}
        disabled={isRunning}
        onClick={() => void run()}
      >
        <span className="button-label">Start the check</span>
        {isRunning && <span className="spinner" aria-hidden="true" />}
      </button>
      <ol className="checks" aria-label="Steps" aria-live="polite">
        {steps.map(({ name, status, ms, detail, error: why }) => (
          <li key={name} data-status={status}>
            <strong>{names[name]}</strong>
            <span
              className="badge"
              data-state={status === 'ok' ? 'connected' : status === 'failed' ? 'disconnected' : 'idle'}
            >
              {words[status]}
            </span>
            <span className="muted">{ms} ms</span>
            <span className="grow">{why?.message ?? detail ?? ''}</span>
          </li>
        ))}
      </ol>
      {!isRunning && steps.length > 0 && (
        <p role="status">
          {steps.every(({ status }) => status !== 'failed')
            ? 'Everything a call needs is there.'
            : 'See what failed above.'}
        </p>
      )}
    </div>
  );
}
