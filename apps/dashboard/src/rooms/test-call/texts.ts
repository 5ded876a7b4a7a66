import type { FirstKey, PlainKey } from '../../i18n/catalogue.ts';
import { testCall } from '../../i18n/en/test-call.ts';
import { textsOfPages } from '../../i18n/t.ts';

export const { t, withNodes } = textsOfPages(testCall);

/** What its tables of words hold. */
export type CallWord = PlainKey<FirstKey | keyof typeof testCall>;
