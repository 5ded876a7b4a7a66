import { projects } from '../i18n/en/projects.ts';
import { textsOfPages } from '../i18n/t.ts';

export const { t, withNodes } = textsOfPages(projects);
