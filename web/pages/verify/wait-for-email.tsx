import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { JSX } from 'react';
import { callAuth } from '../../auth.ts';
import { setupQuery } from '../../queries.ts';
import { savedCode } from '../../sign-up.ts';
import { verify as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { readSignUpSearch } from '../sign-up/search.ts';

const route = getRouteApi('/account/verify');
const WAIT_SECONDS = 60;

/** Says where the email went. It can be sent again after a minute. */
export function WaitForEmail(): JSX.Element {
  const { email: emailInUrl } = route.useSearch();
  const { data: setup } = useQuery(setupQuery);
  const isPrinted = setup?.hasMail === false;
  const words = isPrinted ? t.noMail : t;
  const [email, setEmail] = useState(emailInUrl ?? '');
  // With an address in the URL, an email was just sent, so the next one has to wait. Otherwise the user wants one now.
  const [seconds, setSeconds] = useState(emailInUrl === undefined ? 0 : WAIT_SECONDS);
  useEffect(() => {
    if (seconds === 0) return undefined;
    const timer = setTimeout(() => setSeconds(seconds - 1), 1000);
    return () => clearTimeout(timer);
  }, [seconds]);
  const sendAgain = useMutation({
    mutationFn: () => callAuth('POST', '/send-verification-email', { email }),
    onSuccess: () => setSeconds(WAIT_SECONDS),
  });
  return (
    <div className="flex flex-col gap-4">
      {isPrinted ? (
        <Banner tone="warn" title={t.noMail.title}>
          {t.noMail.text}
        </Banner>
      ) : (
        <p className="text-sm">{emailInUrl === undefined ? t.sentSomewhere : t.sent(emailInUrl)}</p>
      )}
      {emailInUrl === undefined && (
        <Field label={t.email}>{(wiring) => <TextInput {...wiring} type="email" value={email} onText={setEmail} />}</Field>
      )}
      {sendAgain.isSuccess && (
        <p role="status" className="text-sm text-good">
          {isPrinted ? t.noMail.printed : t.sentAgain}
        </p>
      )}
      {sendAgain.error !== null && (
        <p role="alert" className="text-sm text-bad">
          {sendAgain.error.message}
        </p>
      )}
      <Button isBusy={sendAgain.isPending} disabled={seconds > 0 || email === ''} onClick={() => sendAgain.mutate()}>
        {seconds > 0 ? words.againIn(seconds) : words.again}
      </Button>
      <p className="text-sm text-muted">
        {t.wrong}{' '}
        <Link to="/sign-up" search={readSignUpSearch({ code: savedCode() })} className="link">
          {t.wrongAction}
        </Link>
      </p>
    </div>
  );
}
