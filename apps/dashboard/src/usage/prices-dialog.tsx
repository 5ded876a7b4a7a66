import type { UsagePrices } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { t } from './texts.ts';

const labels = {
  messages: 'usage.perMessages',
  minutes: 'usage.perMinute',
  recordedMinutes: 'usage.perRecordedMinute',
  storedBytes: 'usage.perStored',
  sentBytes: 'usage.perSent',
} as const;
const meters = Object.keys(labels) as (keyof typeof labels)[];

/** What the operator charges, if anything. */
export function PricesDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { project } = useProject();
  const query = useQuery({
    queryKey: ['usage-prices', project.id],
    queryFn: ({ signal }) => api.call('getUsagePrices', { projectId: project.id }, { signal }),
    gcTime: 0,
  });
  return (
    <Dialog title={t('usage.pricesOf')} onClose={onClose}>
      <QueryView query={query}>{(prices) => <PricesForm prices={prices} onClose={onClose} />}</QueryView>
    </Dialog>
  );
}

function PricesForm({ prices, onClose }: { prices: UsagePrices; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const textOf = (meter: keyof typeof labels): string => prices[meter] ?? '';
  const form = useForm({
    initial: {
      currency: prices.currency ?? '',
      messages: textOf('messages'),
      minutes: textOf('minutes'),
      recordedMinutes: textOf('recordedMinutes'),
      storedBytes: textOf('storedBytes'),
      sentBytes: textOf('sentBytes'),
    },
    check: (values) => ({
      ...(values.currency !== '' &&
        !/^[A-Za-z]{3}$/.test(values.currency.trim()) && { currency: t('usage.threeLetters') }),
      ...Object.fromEntries(
        meters
          .filter((meter) => values[meter] !== '' && !/^\d{1,9}(\.\d{1,6})?$/.test(values[meter].trim()))
          .map((meter) => [meter, t('usage.sixDecimals')]),
      ),
    }),
    submit: ({ currency, ...given }) => {
      const priceOf = (meter: keyof typeof labels): string | null => given[meter].trim() || null;
      return api.call('setUsagePrices', {
        projectId: project.id,
        body: {
          currency: currency.trim().toUpperCase() || null,
          messages: priceOf('messages'),
          minutes: priceOf('minutes'),
          recordedMinutes: priceOf('recordedMinutes'),
          storedBytes: priceOf('storedBytes'),
          sentBytes: priceOf('sentBytes'),
        },
      });
    },
    onDone: async (stored) => {
      await client.invalidateQueries({ queryKey: ['project', project.id, 'usage'] });
      toast(t(stored.currency === null ? 'usage.pricesRemoved' : 'usage.pricesChanged'));
      onClose();
    },
  });
  return (
    <form className="stack" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField
        label={t('usage.currency')}
        hint={t('usage.currencyHint')}
        maxLength={3}
        autoComplete="off"
        autoFocus
        {...form.field('currency')}
      />
      {meters.map((meter) => (
        <TextField key={meter} label={t(labels[meter])} inputMode="decimal" autoComplete="off" {...form.field(meter)} />
      ))}
      <div className="dialog-actions">
        <Button onClick={onClose}>{t('kit.cancel')}</Button>
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('usage.savePrices')}
        </Button>
      </div>
    </form>
  );
}
