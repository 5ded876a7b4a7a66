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
import { type HookKind, hookKinds } from './hook-kinds.ts';
import { useDone } from './queries.ts';
import { t, withNodes } from './texts.ts';

type Opened = 'set' | 'rotate' | 'remove' | NewModerationHook;

/** Who is asked before a message is stored, or before a file can be fetched. */
export function HookPanel({ kind, hook }: { kind: HookKind; hook: ModerationHook | null }) {
  const { may } = useProject();
  const done = useDone();
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const mayManage = may('chat:manage');
  const { title, none, what, set, change, variable } = hookKinds[kind];
  /** A secret that was just made is shown; without one it was made before. */
  async function stored(answer: NewModerationHook): Promise<void> {
    await done(t('moderation.hookSaved'));
    setOpened(answer.secret === null ? null : answer);
  }
  return (
    <section className="panel stack" aria-labelledby={`hook-${kind}`}>
      <h2 id={`hook-${kind}`}>{t(title)}</h2>
      {hook === null ? (
        <EmptyState title={t(none)} action={mayManage && <Button onClick={() => setOpened('set')}>{t(set)}</Button>}>
          <p>{t(what)}</p>
        </EmptyState>
      ) : (
        <>
          <HookFacts kind={kind} hook={hook} />
          {mayManage && (
            <div className="row">
              <Button onClick={() => setOpened('set')}>{t(change)}</Button>
              <Button onClick={() => setOpened('rotate')}>{t('webhooks.rotate')}</Button>
              <Button variant="danger" onClick={() => setOpened('remove')}>
                {t('moderation.removeHook')}
              </Button>
            </div>
          )}
        </>
      )}
      {opened === 'set' && <HookDialog kind={kind} hook={hook} onClose={close} onStored={stored} />}
      {opened === 'rotate' && <RotateDialog kind={kind} onClose={close} onStored={stored} />}
      {opened === 'remove' && hook && <RemoveHookDialog kind={kind} hook={hook} onClose={close} />}
      {typeof opened === 'object' && opened?.secret && (
        <SecretDialog
          title={t('webhooks.signingSecret')}
          secret={opened.secret}
          secretLabel={t('webhooks.secret')}
          copies={[[t('webhooks.copyEnv'), `${variable}=${opened.secret}`]]}
          onClose={close}
        >
          <p>{withNodes('moderation.signedWith', { url: <strong className="url">{opened.url}</strong> })}</p>
        </SecretDialog>
      )}
    </section>
  );
}

const HookFacts = ({
  kind,
  hook: { url, timeoutMs, onFailure, secretHint },
}: {
  kind: HookKind;
  hook: ModerationHook;
}) => (
  <Facts
    rows={[
      [
        t('words.address'),
        <span key="u" className="url">
          {url}
        </span>,
      ],
      [t('moderation.timeout'), t('moderation.timeoutValue', { value: timeoutMs })],
      [t('moderation.onFailure'), t(hookKinds[kind].failure[onFailure])],
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

function RotateDialog(props: {
  kind: HookKind;
  onClose: () => void;
  onStored: (hook: NewModerationHook) => Promise<void>;
}) {
  const api = useApi();
  const { project, environment } = useProject();
  const rotate = useAction(
    () => api.call(hookKinds[props.kind].routes.rotate, { projectId: project.id, query: { environment } }),
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

function RemoveHookDialog({ kind, hook, onClose }: { kind: HookKind; hook: ModerationHook; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const remove = useAction(
    () => api.call(hookKinds[kind].routes.remove, { projectId: project.id, query: { environment } }),
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
      <p>{withNodes(hookKinds[kind].removed, { url: <strong className="url">{hook.url}</strong> })}</p>
    </ConfirmDialog>
  );
}
