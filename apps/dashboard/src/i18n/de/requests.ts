import type { Translated } from '../catalogue.ts';
import type { requests as english } from '../en/requests.ts';

export const requests: Translated<typeof english> = {
  'requests.lead':
    'Was deine Anwendungen in den letzten 7 Tagen von der API wollten, und was die Antwort war. Kein Inhalt wird gespeichert.',
  'requests.caption': 'API-Anfragen in {environment}, neueste zuerst',
  'requests.none': 'Noch keine Anfrage',
  'requests.noMatch': 'Keine Anfrage passt',
  'requests.appears':
    'Eine Anfrage erscheint hier etwa eine Sekunde, nachdem dein Backend sie mit einem API-Schlüssel gestellt hat.',
  'requests.outcome': 'Ergebnis',
  'requests.anyOutcome': 'Jedes Ergebnis',
  'requests.method': 'Methode',
  'requests.anyMethod': 'Jede Methode',
  'requests.routeContains': 'Route enthält',
  'requests.requestId': 'Anfrage-Kennung',
  'requests.apiKey': 'API-Schlüssel',
  'requests.skipped': {
    one: 'nach {count} weiterer über der Rate des Protokolls',
    other: 'nach {count} weiteren über der Rate des Protokolls',
  },
  'requests.error': 'Fehler',
  'requests.by': 'Von',
  'requests.about': 'Über die Anfrage',
  'requests.credential': 'Zugangsdaten',
  'requests.sameId': 'Gleiche Anfrage-Kennung',
  'requests.everyWithIt': 'Jede Anfrage damit',
  'requests.notLogged': 'Davor nicht protokolliert',
  'requests.chatToken': 'Chat-Token',
  'requests.dashboard': 'Dashboard',
  'requests.rtcToken': 'RTC-Token',
  'requests.successful': 'Erfolgreich',
  'requests.refused': 'Abgelehnt (4xx)',
  'requests.ourFault': 'Unser Fehler (5xx)',
  'requests.count': { one: '{count} Anfrage', other: '{count} Anfragen' },
};
