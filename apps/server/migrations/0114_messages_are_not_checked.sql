-- As 0112. Two statements write messages, with types of the contract.
alter table messages drop constraint messages_type_check;
