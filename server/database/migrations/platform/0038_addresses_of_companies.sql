-- A company's SAML provider may assert any address. Whether it is one of the company's domains is known at the next sign-in.
update auth.users set email_assumed = true where is_sso_user and not email_assumed;
