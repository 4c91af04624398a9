import type { JSX } from 'react';
import { landing as t } from '../../strings/index.ts';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** What this is, for those who come for the first time. */
export function LandingPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <p className="flex flex-wrap gap-3">
        <LinkButton to="/sign-up" variant="primary" size="lg">
          {t.signUp}
        </LinkButton>
        <LinkButton to="/models" size="lg">
          {t.models}
        </LinkButton>
      </p>
    </>
  );
}
