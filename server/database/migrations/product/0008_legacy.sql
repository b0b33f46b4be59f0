-- Two tables of an older product, kept as they were specified. Nothing writes to them and no client role may read them.
create table users (
  id serial primary key,
  username text not null unique,
  password text not null
);

create table chat_history (
  id serial primary key,
  title text not null,
  description text,
  document_icon text,
  is_pinned boolean default false,
  user_id integer not null references users on delete cascade,
  last_message_at timestamp not null default now(),
  created_at timestamp not null default now()
);

alter table users enable row level security;
alter table users force row level security;
alter table chat_history enable row level security;
alter table chat_history force row level security;
