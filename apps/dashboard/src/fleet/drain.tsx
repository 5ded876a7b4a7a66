import type { RtcServer } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { t } from '../i18n/t.ts';
import { Button, type ButtonVariant } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox } from '../kit/field.tsx';
import { useToast } from '../kit/toast.tsx';
import { fleetKeys } from './queries.ts';

/** Takes a node out of the pool, or puts it back. */
export function DrainButton({ server, variant = 'secondary' }: { server: RtcServer; variant?: ButtonVariant }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { isOperator } = useUser();
  const [isAsking, setAsking] = useState(false);
  const { name, draining } = server;
  const undrain = useAction(() => api.call('undrainServer', { name }), {
    onDone: async () => {
      toast(t('fleet.takesRooms', { name }));
      await client.invalidateQueries({ queryKey: fleetKeys.all });
    },
  });
  return (
    <>
      <Button
        variant={variant}
        disabled={!isOperator}
        isBusy={undrain.isBusy}
        title={isOperator ? undefined : t('fleet.operatorsOnly')}
        aria-label={t(draining ? 'fleet.undrainNamed' : 'fleet.drainNamed', { name })}
        onClick={() => (draining ? void undrain.run(undefined) : setAsking(true))}
      >
        {draining ? t('fleet.undrain') : t('fleet.drain')}
      </Button>
      {undrain.failure && <ErrorNotice failure={undrain.failure} />}
      {isAsking && <DrainDialog server={server} onClose={() => setAsking(false)} />}
    </>
  );
}

function DrainDialog({ server: { name, activeRooms }, onClose }: { server: RtcServer; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const [isForced, setForced] = useState(false);
  const drain = useAction(() => api.call('drainServer', { name, body: { force: isForced } }), {
    onDone: async () => {
      await client.invalidateQueries({ queryKey: fleetKeys.all });
      toast(t('fleet.drainingNamed', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('fleet.drainAsk', { name })}
      action={t('fleet.drainNode')}
      isBusy={drain.isBusy}
      failure={drain.failure}
      onConfirm={() => void drain.run(undefined)}
      onClose={onClose}
    >
      <p>
        {t('fleet.noNewRoom')}{' '}
        {activeRooms === null ? t('fleet.roomsStay') : t('fleet.countStays', { count: activeRooms })}{' '}
        {t('fleet.canUndrain')}
      </p>
      <Checkbox
        label={t('fleet.alsoMove')}
        hint={t('fleet.moveHint')}
        checked={isForced}
        onChange={(event) => setForced(event.target.checked)}
      />
    </ConfirmDialog>
  );
}
