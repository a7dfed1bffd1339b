//! Messages between the processes of a run.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::MpiError;
use crate::functions::{Constants, Functions, Request, Status, text};
use crate::pieces::{LARGEST, join, split};

/// Tag of messages, which arrive in the order in which a process sent them.
const MESSAGES: c_int = 1;

/// Tag of notices, which overtake messages.
const NOTICES: c_int = 2;

/// Number of sends under way after which a sender looks which of them are done.
const LOOK_AFTER: usize = 16;

/// A message, with its kind below 128.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its kind, which sender and receiver give a meaning.
    pub kind: u8,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A process of a run, connected with the others. It answers the thread that made it, and no other.
pub struct Connection {
    functions: Functions,
    constants: Constants,
    name: String,
    rank: u32,
    n_ranks: u32,
    sends: Mutex<Vec<Send>>,
    /// Pieces of messages that have not arrived whole. `[n_ranks]`
    pieces: Mutex<Vec<Vec<u8>>>,
    /// The thread that made it: MPI was told that no other calls it.
    thread: ThreadId,
}

/// A send under way; MPI reads its bytes until its request is done.
struct Send {
    request: Request,
    bytes: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(functions: Functions, constants: Constants, name: String) -> Result<Connection, MpiError> {
        let (mut rank, mut n_ranks) = (-1, -1);
        // SAFETY: MPI is initialised, and the places are valid. Errors are returned from here on.
        let codes = unsafe {
            [
                (functions.set_errhandler)(constants.world, constants.errors_return),
                (functions.comm_rank)(constants.world, &mut rank),
                (functions.comm_size)(constants.world, &mut n_ranks),
            ]
        };
        let numbers = u32::try_from(rank).ok().zip(u32::try_from(n_ranks).ok()).filter(|_| codes == [0; 3]);
        let (rank, n_ranks) = numbers.ok_or_else(|| MpiError::new(format!("{name} does not tell the number of its processes")))?;
        let (sends, pieces) = (Mutex::default(), Mutex::new(vec![Vec::new(); n_ranks as usize]));
        Ok(Connection { functions, constants, name, rank, n_ranks, sends, pieces, thread: thread::current().id() })
    }

    /// Name and version of the MPI, such as `MPICH 4.0.2`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of this process, from 0.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of processes.
    pub fn n_ranks(&self) -> u32 {
        self.n_ranks
    }

    /// Name of the machine that this process runs on.
    ///
    /// # Errors
    /// If another thread asks.
    pub fn node(&self) -> Result<String, MpiError> {
        self.check_thread()?;
        Ok(text(|bytes, len| {
            // SAFETY: the buffer has room for the longest name of any MPI.
            unsafe { (self.functions.processor_name)(bytes, len) }
        }))
    }

    /// Sends a message, and does not wait until it is received.
    ///
    /// # Errors
    /// If MPI cannot send it.
    pub fn send(&self, to: u32, message: Message) -> Result<(), MpiError> {
        split(message.kind, message.bytes, LARGEST).into_iter().try_for_each(|piece| self.start(to, MESSAGES, piece))
    }

    /// Sends a few bytes that overtake messages.
    ///
    /// # Errors
    /// If MPI cannot send them.
    pub fn notify(&self, to: u32, notice: Vec<u8>) -> Result<(), MpiError> {
        self.start(to, NOTICES, notice)
    }

    fn start(&self, to: u32, tag: c_int, bytes: Vec<u8>) -> Result<(), MpiError> {
        self.check_thread()?;
        let Constants { byte, world, .. } = self.constants;
        let (len, to) = (bytes.len() as c_int, to as c_int);
        let mut request: Request = 0;
        // SAFETY: the bytes stay where they are, in a vector that nobody changes, until MPI says in
        // `progress` that it has read them.
        let code = unsafe { (self.functions.isend)(bytes.as_ptr().cast::<c_void>(), len, byte, to, tag, world, &mut request) };
        self.check(code, "MPI_Isend")?;
        let under_way = {
            let mut sends = self.sends();
            sends.push(Send { request, bytes });
            sends.len()
        };
        // A process that never waits would keep all that it ever sent.
        if under_way.is_multiple_of(LOOK_AFTER) { self.progress().map(|_| ()) } else { Ok(()) }
    }

    /// Lets MPI go on with what is sent; the number of sends that are under way.
    ///
    /// # Errors
    /// If a send failed.
    pub fn progress(&self) -> Result<usize, MpiError> {
        self.check_thread()?;
        let mut sends = self.sends();
        let mut failed = 0;
        sends.retain_mut(|send| {
            let (mut is_done, mut status) = (0, Status::empty());
            // SAFETY: the request is one that `start` got, and not yet done.
            let code = unsafe { (self.functions.test)(&mut send.request, &mut is_done, &mut status) };
            if code != 0 {
                failed = code;
                // MPI may still read them.
                std::mem::forget(std::mem::take(&mut send.bytes));
            }
            code == 0 && is_done == 0
        });
        self.check(failed, "MPI_Test")?;
        Ok(sends.len())
    }

    /// The next message of a process, if it has arrived.
    ///
    /// # Errors
    /// If MPI cannot receive it.
    pub fn receive(&self, from: u32) -> Result<Option<Message>, MpiError> {
        while let Some(piece) = self.take(from as c_int, MESSAGES)? {
            let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(before) = pieces.get_mut(from as usize) else { return Ok(None) };
            if let Some((kind, bytes)) = join(before, piece) {
                return Ok(Some(Message { kind, bytes }));
            }
        }
        Ok(None)
    }

    /// A notice of any process, if one has arrived.
    ///
    /// # Errors
    /// If MPI cannot receive it.
    pub fn notice(&self) -> Result<Option<Vec<u8>>, MpiError> {
        self.take(self.constants.any_source, NOTICES)
    }

    /// The bytes that have arrived from a process under a tag.
    fn take(&self, from: c_int, tag: c_int) -> Result<Option<Vec<u8>>, MpiError> {
        self.check_thread()?;
        let Constants { byte, world, .. } = self.constants;
        let (mut has_arrived, mut len, mut status) = (0, 0, Status::empty());
        // SAFETY: the places are valid, and the status has room for that of any MPI.
        let code = unsafe { (self.functions.iprobe)(from, tag, world, &mut has_arrived, &mut status) };
        self.check(code, "MPI_Iprobe")?;
        if has_arrived == 0 {
            return Ok(None);
        }
        // SAFETY: MPI has written the status of this message.
        let code = unsafe { (self.functions.get_count)(&status, byte, &mut len) };
        self.check(code, "MPI_Get_count")?;
        let capacity = usize::try_from(len).map_err(|_| MpiError::new("MPI_Get_count knows no length of a message"))?;
        let mut bytes: Vec<u8> = Vec::with_capacity(capacity);
        // SAFETY: the vector has room for as many bytes. No other thread receives, so that this is
        // the message of the probe.
        let code = unsafe { (self.functions.recv)(bytes.as_mut_ptr().cast::<c_void>(), len, byte, from, tag, world, &mut status) };
        self.check(code, "MPI_Recv")?;
        // SAFETY: MPI has written all of them.
        unsafe { bytes.set_len(capacity) };
        Ok(Some(bytes))
    }

    /// Leaves the others. All sends have to be done, and all messages received.
    ///
    /// # Errors
    /// If sends are under way, or MPI says so.
    pub fn finalize(self) -> Result<(), MpiError> {
        if self.progress()? > 0 {
            return Err(MpiError::new("messages of this process have not been received"));
        }
        // SAFETY: it is called once, since the connection is gone after it.
        let code = unsafe { (self.functions.finalize)() };
        self.check(code, "MPI_Finalize")
    }

    /// Ends all processes of the run at once, with this exit code.
    pub fn abort(&self, exit_code: u8) -> ! {
        if self.check_thread().is_ok() {
            // SAFETY: MPI is initialised, and this is its thread.
            unsafe { (self.functions.abort)(self.constants.world, c_int::from(exit_code)) };
        }
        // The launcher ends the others.
        std::process::exit(i32::from(exit_code))
    }

    fn sends(&self) -> MutexGuard<'_, Vec<Send>> {
        self.sends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_thread(&self) -> Result<(), MpiError> {
        let is_own = thread::current().id() == self.thread;
        is_own.then_some(()).ok_or_else(|| MpiError::new("another thread than the one that connected calls MPI"))
    }

    fn check(&self, code: c_int, function: &str) -> Result<(), MpiError> {
        if code == 0 {
            return Ok(());
        }
        let why = text(|bytes, len| {
            // SAFETY: the buffer has room for the longest error of any MPI.
            unsafe { (self.functions.error_string)(code, bytes, len) }
        });
        Err(MpiError::new(format!("{} of {} failed: {why}", function, self.name)))
    }
}

impl Drop for Connection {
    /// Keeps what MPI may still read.
    fn drop(&mut self) {
        self.sends().drain(..).for_each(|send| std::mem::forget(send.bytes));
    }
}
