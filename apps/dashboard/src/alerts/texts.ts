import { alerts } from '../i18n/en/alerts.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(alerts);
