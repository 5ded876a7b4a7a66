import { users } from '../i18n/en/users.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(users);
