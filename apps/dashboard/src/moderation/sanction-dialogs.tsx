import type { Sanction, SanctionKind } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useDone } from './queries.ts';
import { Terms } from './resolve-dialog.tsx';
import { t, withNodes } from './texts.ts';
import { termsOf } from './words.tsx';

const imposing = {
  BAN: {
    route: 'banProjectChatUser',
    title: 'moderation.banFor',
    action: 'moderation.banNow',
    done: 'moderation.banned',
  },
  MUTE: {
    route: 'muteProjectChatUser',
    title: 'moderation.muteFor',
    action: 'moderation.muteNow',
    done: 'moderation.muted',
  },
  SHADOW: {
    route: 'shadowProjectChatUser',
    title: 'moderation.shadowFor',
    action: 'moderation.shadowNow',
    done: 'moderation.shadowed',
  },
} as const;

export function ImposeDialog({ kind, onClose }: { kind: SanctionKind; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const { route, title, action, done: says } = imposing[kind];
  const form = useForm({
    initial: { userId: '', hours: '24', reason: '' },
    check: ({ userId }) => ({ userId: userId.trim() === '' ? t('moderation.enterUser') : undefined }),
    submit: ({ userId, ...terms }) =>
      api.call(route, {
        projectId: project.id,
        userId: userId.trim(),
        query: { environment },
        body: termsOf(terms),
      }),
    onDone: async ({ userId }) => {
      await done(t(says, { user: userId }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t(title, { environment: environmentName(environment) })}
      onClose={onClose}
      form={form}
      action={t(action)}
      isDanger
    >
      <TextField
        label={t('moderation.userId')}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        {...form.field('userId')}
      />
      <Terms form={form} isTold={kind !== 'SHADOW'} />
    </FormDialog>
  );
}

const lifting = {
  BAN: {
    route: 'unbanProjectChatUser',
    routeHere: 'unbanProjectConversationUser',
    ask: 'moderation.liftBan',
    explained: 'moderation.liftBanExplained',
  },
  MUTE: {
    route: 'unmuteProjectChatUser',
    routeHere: 'unmuteProjectConversationUser',
    ask: 'moderation.liftMute',
    explained: 'moderation.liftMuteExplained',
  },
  SHADOW: {
    route: 'unshadowProjectChatUser',
    routeHere: 'unshadowProjectConversationUser',
    ask: 'moderation.liftShadow',
    explained: 'moderation.liftShadowExplained',
  },
} as const;

export function LiftDialog({ sanction, onClose }: { sanction: Sanction; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const { kind, userId, conversationId } = sanction;
  const { route, routeHere, ask, explained } = lifting[kind];
  const of = { projectId: project.id, userId, query: { environment } };
  const lift = useAction(
    () => (conversationId === null ? api.call(route, of) : api.call(routeHere, { ...of, conversationId })),
    {
      onDone: async () => {
        await done(t('moderation.lifted', { user: userId }));
        onClose();
      },
    },
  );
  const says = kind === 'BAN' && conversationId !== null ? 'moderation.liftBanHereExplained' : explained;
  return (
    <ConfirmDialog
      title={t(ask)}
      action={t('moderation.lift')}
      isBusy={lift.isBusy}
      failure={lift.failure}
      onConfirm={() => void lift.run(undefined)}
      onClose={onClose}
    >
      <p>{withNodes(says, { user: <strong className="mono">{userId}</strong> })}</p>
    </ConfirmDialog>
  );
}
