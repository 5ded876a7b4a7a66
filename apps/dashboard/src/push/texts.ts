import { push } from '../i18n/en/push.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(push);
