import { type Alert, usageMeters } from '@parley/contract';

/** What an alert waits for, in words. */
export function conditionOf({ kind, bound, windowMinutes, meter, period, target }: Alert): string {
  const which = target === null ? 'any' : target;
  switch (kind) {
    case 'JOIN_SUCCESS_BELOW':
      return `fewer than ${bound} % of joins succeed in ${windowMinutes} minutes`;
    case 'WEBHOOK_FAILING':
      return `${bound} failures in a row of webhook ${which}`;
    case 'NODE_OFFLINE':
      return `media node ${which} is offline`;
    case 'USAGE_ABOVE':
      return `more than ${bound} ${meter} in a ${period === 'MONTH' ? 'month' : 'day'}`;
  }
}

export function foundOf({ value, detail, kind, meter }: Alert): string {
  const unit = kind === 'JOIN_SUCCESS_BELOW' ? ' %' : kind === 'USAGE_ABOVE' && meter ? ` ${unitOf(meter)}` : '';
  const figure = value === null ? 'nothing known' : `${value}${unit}`;
  return detail === null ? figure : `${figure} (${detail})`;
}

const unitOf = (meter: keyof typeof usageMeters): string =>
  usageMeters[meter].stored === 'ms' ? 'minutes' : usageMeters[meter].stored;
