import type { Environment, Permission, Project } from '@parley/contract';
import { roleMay } from '@parley/contract/permissions';
import { createContext, use } from 'react';
import { t } from '../i18n/t.ts';
import { projectPath, useEnvironment } from './url.ts';

export const ProjectContext = createContext<Project | null>(null);

export interface CurrentProject {
  project: Project;
  environment: Environment;
  /** Whether the person's role allows something here, in this environment unless another is named. */
  may: (permission: Permission, environment?: Environment) => boolean;
  /** A page of this project in this environment. */
  to: (page: string, filters?: Readonly<Record<string, string>>) => string;
}

export function useProject(): CurrentProject {
  const project = use(ProjectContext);
  if (!project) throw new Error('no project above this component');
  const here = useEnvironment();
  return {
    project,
    environment: here,
    may: (permission, environment = here) => project.role !== null && roleMay(project.role, permission, environment),
    to: (page, filters) => projectPath(project.id, page, here, filters),
  };
}

/** Says who can help where a button is not offered. */
export const askFor = (permission: Permission): string => t('frame.askFor', { permission });
