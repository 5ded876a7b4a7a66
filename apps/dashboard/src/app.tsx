import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation, useParams } from 'wouter';
import { AuthCard } from './accounts/auth-card.tsx';
import { ExpiredDialog } from './accounts/expired-dialog.tsx';
import { ProofDialog } from './accounts/factors/proof-dialog.tsx';
import { explain } from './data/errors.ts';
import { createQueryClient } from './data/queries.ts';
import { useApi, useServices, useSession } from './data/services.tsx';
import { useChanges } from './data/use-changes.ts';
import { Page } from './frame/page.tsx';
import { PageBoundary } from './frame/page-boundary.tsx';
import { pages } from './frame/pages.ts';
import { preferences, setPreference } from './frame/preferences.ts';
import { ProjectContext } from './frame/project.tsx';
import { Failure } from './frame/query-view.tsx';
import { Shell } from './frame/shell.tsx';
import { projectPath, safeNext, useNamedAddress, useNamedEnvironment } from './frame/url.ts';
import { t } from './i18n/t.ts';
import { ErrorNotice } from './kit/error-notice.tsx';
import { LiveRegion } from './kit/live.tsx';
import { RequestAddress } from './kit/request-id.tsx';
import { SkeletonLines } from './kit/skeleton.tsx';
import { projectQuery } from './projects/queries.ts';

const LoginPage = lazy(() => import('./accounts/login-page.tsx'));
const RegisterPage = lazy(() => import('./accounts/register-page.tsx'));
const VerifyPage = lazy(() => import('./accounts/verify-page.tsx'));
const FirstAccountPage = lazy(() => import('./accounts/first-account-page.tsx'));
const OAuthPage = lazy(() => import('./accounts/oauth-page.tsx'));
const ForgotPage = lazy(() =>
  import('./accounts/reset-pages.tsx').then((pages) => ({ default: pages.ForgotPasswordPage })),
);
const ResetPage = lazy(() =>
  import('./accounts/reset-pages.tsx').then((pages) => ({ default: pages.ResetPasswordPage })),
);
const AccountPage = lazy(() => import('./accounts/account-page.tsx'));
const SharedCallPage = lazy(() => import('./calls/shared-call-page.tsx'));
const ProjectsPage = lazy(() => import('./projects/projects-page.tsx'));

export function App() {
  return (
    <>
      <PageBoundary>
        <Suspense fallback={null}>
          <Switch>
            <Route path="/verify-email" component={VerifyPage} />
            <Route path="/first-account" component={FirstAccountPage} />
            <Route path="/reset-password" component={ResetPage} />
            <Route path="/oauth/:provider" component={OAuthPage} />
            <Route path="/shared-call" component={SharedCallPage} />
            <Route path="/login">
              <ForStrangers>
                <LoginPage />
              </ForStrangers>
            </Route>
            <Route path="/register">
              <ForStrangers>
                <RegisterPage />
              </ForStrangers>
            </Route>
            <Route path="/forgot-password" component={ForgotPage} />
            <Route>
              <ForMembers>
                <SignedInPages />
              </ForMembers>
            </Route>
          </Switch>
        </Suspense>
      </PageBoundary>
      <ExpiredDialog />
      <ProofDialog />
      <LiveRegion />
    </>
  );
}

/** Pages only for visitors who are not signed in. */
function ForStrangers({ children }: { children: ReactNode }) {
  const { kind } = useSession();
  if (kind === 'starting') return null;
  if (kind === 'signedIn') return <Redirect to={safeNext(new URLSearchParams(location.search).get('next'))} replace />;
  return children;
}

function ForMembers({ children }: { children: ReactNode }) {
  const session = useSession();
  const { session: store } = useServices();
  const [path] = useLocation();
  if (session.kind === 'starting') return null;
  if (session.kind === 'unreachable') {
    return (
      <AuthCard title="Parley">
        <ErrorNotice failure={explain(session.error)} onRetry={() => void store.start()} />
      </AuthCard>
    );
  }
  if (session.kind === 'signedOut') {
    const here = path + location.search;
    return <Redirect to={here === '/' ? '/login' : `/login?next=${encodeURIComponent(here)}`} replace />;
  }
  return <OwnAnswers key={session.user.id}>{children}</OwnAnswers>;
}

/** One query cache per user: no one is shown what another user loaded. */
function OwnAnswers({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}

function SignedInPages() {
  return (
    <Switch>
      <Route path="/">
        <Home />
      </Route>
      <Route path="/p/:projectId/*?">
        <ProjectPages />
      </Route>
      <Route>
        <Shell projectId={null}>
          <Guarded>
            <Switch>
              <Route path="/projects" component={ProjectsPage} />
              <Route path="/account" component={AccountPage} />
              <Route>
                <NothingHere />
              </Route>
            </Switch>
          </Guarded>
        </Shell>
      </Route>
    </Switch>
  );
}

/** A page inside the frame: a skeleton until it is there, and a way out when it cannot be. Another page starts anew. */
function Guarded({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  return (
    <PageBoundary key={path}>
      <Suspense fallback={<SkeletonLines />}>{children}</Suspense>
    </PageBoundary>
  );
}

/** The last visited project in its last environment, or the list. */
function Home() {
  const { lastProject, lastEnvironment } = preferences();
  return (
    <Redirect to={lastProject === null ? '/projects' : projectPath(lastProject, 'overview', lastEnvironment)} replace />
  );
}

function ProjectPages() {
  const { projectId } = useParams<{ projectId: string }>();
  const query = useQuery(projectQuery(useApi(), projectId));
  const { data: project } = query;
  const isGone = explain(query.error).kind === 'notFound';
  useEffect(() => {
    if (project) setPreference('lastProject', project.id);
    else if (isGone && preferences().lastProject === projectId) setPreference('lastProject', null);
  }, [project, isGone, projectId]);
  const environment = useNamedEnvironment();
  const addressHere = useNamedAddress(preferences().lastEnvironment);
  useEffect(() => {
    if (environment !== null) setPreference('lastEnvironment', environment);
  }, [environment]);
  useChanges(projectId, environment ?? preferences().lastEnvironment);
  if (environment === null) return <Redirect to={addressHere} replace />;
  return (
    <Shell projectId={projectId}>
      {project === undefined ? (
        query.error ? (
          <Page title={t('frame.project')}>
            <Failure error={query.error} onRetry={() => void query.refetch()} />
          </Page>
        ) : (
          <SkeletonLines />
        )
      ) : (
        <ProjectContext value={project}>
          <RequestAddress value={(id) => projectPath(projectId, `requests/${id}`, environment)}>
            <Guarded>
              <Switch>
                {pages.map(({ path, component }) => (
                  <Route key={path} path={`/p/:projectId/${path}`} component={component} />
                ))}
                {pages.map(
                  ({ path, detail }) =>
                    detail && (
                      <Route key={path} path={`/p/:projectId/${path}/${detail.path}`} component={detail.component} />
                    ),
                )}
                <Route path="/p/:projectId">
                  <Redirect to={projectPath(projectId, 'overview', environment)} replace />
                </Route>
                <Route>
                  <NothingHere />
                </Route>
              </Switch>
            </Guarded>
          </RequestAddress>
        </ProjectContext>
      )}
    </Shell>
  );
}

function NothingHere() {
  return (
    <Page title={t('error.notFound')}>
      <p>
        {t('frame.noPage')} <Link href="/projects">{t('frame.allProjects')}</Link>
      </p>
    </Page>
  );
}
