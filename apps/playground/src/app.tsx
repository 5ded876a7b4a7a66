import { Link, Route, Router, Switch } from 'wouter';
import { CheckPage } from './check-page.tsx';
import { HostPage } from './host-page.tsx';
import { InboxPage } from './inbox-page.tsx';
import { RoomPage } from './room-page.tsx';
import { StartPage } from './start-page.tsx';
import { ViewerPage } from './viewer-page.tsx';

export function App() {
  return (
    <Router base="/playground">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="top">
        <Link href="/" className="brand">
          Parley playground
        </Link>
        <nav aria-label="Pages">
          <Link href="/room/demo">Demo room</Link>
          <Link href="/chat">Chat</Link>
          <Link href="/host">Go live</Link>
          <Link href="/check">Connection check</Link>
          <a href="/">Dashboard</a>
          <a href="/docs">Docs</a>
        </nav>
      </header>
      <main id="content">
        <Switch>
          <Route path="/" component={StartPage} />
          <Route path="/room/:name">{({ name }) => <RoomPage key={name} name={decodeURIComponent(name)} />}</Route>
          <Route path="/host/:id?">{({ id }) => <HostPage key={id ?? ''} streamId={id ?? null} />}</Route>
          <Route path="/watch/:id">{({ id }) => <ViewerPage key={id} streamId={id} />}</Route>
          <Route path="/chat" component={InboxPage} />
          <Route path="/check" component={CheckPage} />
          <Route>
            <h1>There is no such page</h1>
            <p>
              <Link href="/">Back to the start</Link>
            </p>
          </Route>
        </Switch>
      </main>
    </Router>
  );
}
