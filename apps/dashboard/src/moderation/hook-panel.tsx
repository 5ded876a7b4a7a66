import type { ModerationHook, NewModerationHook } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { HookDialog } from './hook-dialog.tsx';
import { useDone } from './queries.ts';
import { t, withNodes } from './texts.ts';

type Opened = 'set' | 'rotate' | 'remove' | NewModerationHook;

/** Who is asked before a message is stored. */
export function HookPanel({ hook }: { hook: ModerationHook | null }) {
  const { may } = useProject();
  const done = useDone();
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const mayManage = may('chat:manage');
  /** A secret that was just made is shown; without one it was made before. */
  async function stored(answer: NewModerationHook): Promise<void> {
    await done(t('moderation.hookSaved'));
    setOpened(answer.secret === null ? null : answer);
  }
  return (
    <section className="panel stack" aria-labelledby="hook">
      <h2 id="hook">{t('moderation.hook')}</h2>
      {hook === null ? (
        <EmptyState
          title={t('moderation.noHook')}
          action={mayManage && <Button onClick={() => setOpened('set')}>{t('moderation.setHook')}</Button>}
        >
          <p>{t('moderation.whatHook')}</p>
        </EmptyState>
      ) : (
        <>
          <HookFacts hook={hook} />
          {mayManage && (
            <div className="row">
              <Button onClick={() => setOpened('set')}>{t('moderation.change')}</Button>
              <Button onClick={() => setOpened('rotate')}>{t('webhooks.rotate')}</Button>
              <Button variant="danger" onClick={() => setOpened('remove')}>
                {t('moderation.removeHook')}
              </Button>
            </div>
          )}
        </>
      )}
      {opened === 'set' && <HookDialog hook={hook} onClose={close} onStored={stored} />}
      {opened === 'rotate' && <RotateDialog onClose={close} onStored={stored} />}
      {opened === 'remove' && hook && <RemoveHookDialog hook={hook} onClose={close} />}
      {typeof opened === 'object' && opened?.secret && (
        <SecretDialog
          title={t('webhooks.signingSecret')}
          secret={opened.secret}
          secretLabel={t('webhooks.secret')}
          copies={[[t('webhooks.copyEnv'), `SVC_HOOK_SECRET=${opened.secret}`]]}
          onClose={close}
        >
          <p>{withNodes('moderation.signedWith', { url: <strong className="url">{opened.url}</strong> })}</p>
        </SecretDialog>
      )}
    </section>
  );
}

const HookFacts = ({ hook: { url, timeoutMs, onFailure, secretHint } }: { hook: ModerationHook }) => (
  <Facts
    rows={[
      [
        t('words.address'),
        <span key="u" className="url">
          {url}
        </span>,
      ],
      [t('moderation.timeout'), t('moderation.timeoutValue', { value: timeoutMs })],
      [t('moderation.onFailure'), t(onFailure === 'open' ? 'moderation.failOpen' : 'moderation.failClosed')],
      [
        t('webhooks.signingSecret'),
        withNodes('moderation.secretEnds', {
          hint: (
            <span key="h" className="mono">
              {secretHint}
            </span>
          ),
        }),
      ],
    ]}
  />
);

function RotateDialog(props: { onClose: () => void; onStored: (hook: NewModerationHook) => Promise<void> }) {
  const api = useApi();
  const { project, environment } = useProject();
  const rotate = useAction(
    () => api.call('rotateProjectModerationHook', { projectId: project.id, query: { environment } }),
    { onDone: props.onStored },
  );
  return (
    <ConfirmDialog
      title={t('webhooks.rotateAsk')}
      action={t('webhooks.rotate')}
      isBusy={rotate.isBusy}
      failure={rotate.failure}
      onConfirm={() => void rotate.run(undefined)}
      onClose={props.onClose}
    >
      <p>{t('moderation.rotateExplained')}</p>
    </ConfirmDialog>
  );
}

function RemoveHookDialog({ hook, onClose }: { hook: ModerationHook; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const remove = useAction(
    () => api.call('removeProjectModerationHook', { projectId: project.id, query: { environment } }),
    {
      onDone: async () => {
        await done(t('moderation.hookRemoved'));
        onClose();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t('moderation.removeHookAsk')}
      action={t('moderation.removeHook')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>{withNodes('moderation.removeHookExplained', { url: <strong className="url">{hook.url}</strong> })}</p>
    </ConfirmDialog>
  );
}
