import type { RtcServer } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Button, type ButtonVariant } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox } from '../kit/field.tsx';
import { plural } from '../kit/numbers.ts';
import { useToast } from '../kit/toast.tsx';
import { fleetKeys } from './queries.ts';

const operatorsOnly = 'Only operators of the instance may drain media nodes.';

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
      toast(`${name} takes new rooms again`);
      await client.invalidateQueries({ queryKey: fleetKeys.all });
    },
  });
  return (
    <>
      <Button
        variant={variant}
        disabled={!isOperator}
        isBusy={undrain.isBusy}
        title={isOperator ? undefined : operatorsOnly}
        aria-label={`${draining ? 'Undrain' : 'Drain'} ${name}`}
        onClick={() => (draining ? void undrain.run(undefined) : setAsking(true))}
      >
        {draining ? 'Undrain' : 'Drain'}
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
      toast(`Draining ${name}`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Drain ${name}?`}
      action="Drain node"
      isBusy={drain.isBusy}
      failure={drain.failure}
      onConfirm={() => void drain.run(undefined)}
      onClose={onClose}
    >
      <p>
        No new room is placed on it.{' '}
        {activeRooms === null
          ? 'Its rooms stay until they empty.'
          : `${plural(activeRooms, 'room')} ${activeRooms === 1 ? 'stays' : 'stay'} until ${activeRooms === 1 ? 'it empties' : 'they empty'}.`}{' '}
        You can undrain it at any time.
      </p>
      <Checkbox
        label="Also move who is there"
        hint="Their clients reconnect to another node; calls are interrupted for a moment."
        checked={isForced}
        onChange={(event) => setForced(event.target.checked)}
      />
    </ConfirmDialog>
  );
}
