import type { PushKind, PushOverview, PushService, PushSettings } from '@parley/contract';
import { useState } from 'react';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { ApnsDialog, FcmDialog } from './key-dialogs.tsx';
import { useUpdatePush } from './queries.ts';
import { t } from './texts.ts';

/** Of what others give us keys for; those of Web Push we make ourselves. */
type Foreign = Exclude<PushKind, 'WEB_PUSH'>;
type Opened = { is: 'set' | 'remove'; kind: Foreign };

const names = { WEB_PUSH: 'push.webPush', FCM: 'push.fcm', APNS: 'push.apns' } as const;

/** How devices are reached, whether we may, and how it goes. */
export function ServicePanel({ overview: { settings, services } }: { overview: PushOverview }) {
  const { environment, may } = useProject();
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  return (
    <section className="stack" aria-labelledby="services">
      <h2 id="services">{t('push.services')}</h2>
      <Table
        caption={t('push.caption', { environment: environmentName(environment) })}
        columns={columns(settings, may('chat:manage') ? setOpened : null)}
        rows={services}
        keyOf={({ kind }) => kind}
      />
      {services.every(({ devices }) => devices === 0) && <p>{t('push.noDevices')}</p>}
      <p className="muted">{t('push.noReceipts')}</p>
      {opened?.is === 'set' && opened.kind === 'FCM' && <FcmDialog onClose={close} />}
      {opened?.is === 'set' && opened.kind === 'APNS' && <ApnsDialog apns={settings.apns} onClose={close} />}
      {opened?.is === 'remove' && <RemoveDialog kind={opened.kind} onClose={close} />}
    </section>
  );
}

/** Whose keys they are; null where there are none. */
function identityOf({ fcm, apns }: PushSettings, kind: PushKind): string | null {
  if (kind === 'WEB_PUSH') return t('push.madeByUs');
  if (kind === 'FCM') return fcm && t('push.fcmIdentity', { project: fcm.projectId });
  return apns && t('push.apnsIdentity', { team: apns.teamId, key: apns.keyId });
}

function columns(settings: PushSettings, onOpen: ((opened: Opened) => void) | null): readonly Column<PushService>[] {
  const plain: Column<PushService>[] = [
    { head: t('push.service'), cell: ({ kind }) => <strong>{t(names[kind])}</strong> },
    {
      head: t('words.state'),
      cell: ({ kind, devices }) =>
        identityOf(settings, kind) === null ? (
          // Its devices wait for nothing.
          <Badge tone={devices > 0 ? 'warn' : 'plain'} shape="ring">
            {t('push.notSet')}
          </Badge>
        ) : (
          <Badge tone="ok">{t('push.ready')}</Badge>
        ),
    },
    {
      head: t('push.identity'),
      cell: ({ kind }) => identityOf(settings, kind) ?? <span className="no-data">{t('words.none')}</span>,
    },
    { head: t('push.devices'), align: 'end', cell: ({ devices }) => count(devices) },
    { head: t('push.waiting'), align: 'end', cell: ({ waiting }) => count(waiting) },
    { head: t('push.retrying'), align: 'end', cell: ({ retrying }) => count(retrying) },
  ];
  if (onOpen === null) return plain;
  const keys: Column<PushService> = {
    head: '',
    align: 'end',
    cell: ({ kind }) =>
      kind !== 'WEB_PUSH' && <KeyButtons kind={kind} isSet={identityOf(settings, kind) !== null} onOpen={onOpen} />,
  };
  return [...plain, keys];
}

function KeyButtons(props: { kind: Foreign; isSet: boolean; onOpen: (opened: Opened) => void }) {
  const { kind, isSet, onOpen } = props;
  const service = t(names[kind]);
  return (
    <span className="row">
      <Button
        aria-label={t(isSet ? 'push.replaceOf' : 'push.setUpOf', { service })}
        onClick={() => onOpen({ is: 'set', kind })}
      >
        {t(isSet ? 'push.replace' : 'push.setUp')}
      </Button>
      {isSet && (
        <Button aria-label={t('push.removeOf', { service })} onClick={() => onOpen({ is: 'remove', kind })}>
          {t('words.remove')}
        </Button>
      )}
    </span>
  );
}

function RemoveDialog({ kind, onClose }: { kind: Foreign; onClose: () => void }) {
  const { update, done } = useUpdatePush();
  const service = t(names[kind]);
  const remove = useAction(() => update(kind === 'FCM' ? { fcm: null } : { apns: null }), {
    onDone: async () => {
      await done(t('push.removed', { service }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('push.removeAsk', { service })}
      action={t('words.remove')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>{t('push.removeExplained')}</p>
    </ConfirmDialog>
  );
}
