import { moderation } from '../i18n/en/moderation.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(moderation);
