import { usage } from '../i18n/en/usage.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t } = textsOfPages(usage);
